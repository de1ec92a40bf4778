/* SPDX-License-Identifier: MIT */
#include "tools/bus-text.h"

#include <errno.h>
#include <string.h>

/* "CYCLE [cpuN] KIND NAME=VALUE ...": registers by name, what is 10 or more in
 * hex. */
static void write_event(void *opaque, const struct trace_event *event)
{
	const uint64_t value[3] = { event->a, event->b, event->c };
	const struct bus_text *bus = opaque;
	char name[32];

	fprintf(bus->out, "%12llu ", (unsigned long long)event->cycle);
	if (bus->machine->ncpus > 1)
		fprintf(bus->out, "cpu%u ", event->cpu);
	fputs(trace_kind_name(event->kind), bus->out);
	for (unsigned i = 0; i < 3; i++) {
		const char *arg = trace_arg_name(event->kind, i);

		if (arg && !strcmp(arg, "reg"))
			fprintf(bus->out, " reg=%s",
				machine_sysreg_name((uint32_t)value[i], name, sizeof(name)));
		else if (arg)
			fprintf(bus->out, value[i] < 10 ? " %s=%llu" : " %s=0x%llx", arg,
				(unsigned long long)value[i]);
	}
	for (uint64_t i = 0; event->data && i < event->c; i++)
		fprintf(bus->out, "%s%02x", i ? "" : " data=",
			((const uint8_t *)event->data)[i]);
	fputc('\n', bus->out);
}

int bus_text_start(struct bus_text *bus, FILE *out, struct machine *machine)
{
	bus->machine = machine;
	bus->out = out;
	return trace_subscribe(&machine->bus, write_event, bus);
}

int bus_text_open(struct bus_text *bus, const char *path, struct machine *machine)
{
	FILE *out = fopen(path, "w");

	if (!out)
		return -1;
	return bus_text_start(bus, out, machine) ? -1 : 0;
}

int bus_text_close(struct bus_text *bus)
{
	int bad = ferror(bus->out);

	if (fclose(bus->out))
		return -1;
	if (bad)
		errno = EIO;
	return bad ? -1 : 0;
}
