/* SPDX-License-Identifier: MIT */
/* pmulab scenarios, profiles, events: lists. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine.h"
#include "kernelcore/kperf.h"
#include "tools/pmulab.h"

static error_t no_arguments(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_INIT)
		one_line_errors(state);
	if (key == ARGP_KEY_ARG)
		usage_error("takes no argument: %s", arg);
	return key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

/* The comment lines on top of a scenario; its first sentence says what it is. */
static void print_summary(const char *path)
{
	char line[512];
	FILE *file = fopen(path, "r");

	while (file && fgets(line, sizeof(line), file)) {
		char *text = line + strspn(line, "# \t");

		if (*line != '#')
			break;
		if (strstr(line, "SPDX") || *text == '\n' || !*text)
			continue;
		printf("%s", text);
		if (!strchr(text, '\n'))
			putchar('\n');
		fclose(file);
		return;
	}
	putchar('\n');
	if (file)
		fclose(file);
}

int cmd_scenarios(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = no_arguments,
		.doc = "List the corpus' scenarios with what each shows."
		       "\vexample: pmulab scenarios",
	};
	char **names;
	size_t n;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	names = scenario_names(&n);
	if (!names)
		return EXIT_USAGE;
	for (size_t i = 0; i < n; i++) {
		char *path;

		if (where_scenario(names[i], &path))
			continue;
		printf("%-34s ", names[i]);
		print_summary(path);
		free(path);
	}
	names_free(names);
	return 0;
}

int cmd_profiles(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = no_arguments,
		.doc = "List the kernels that the perf core can be."
		       "\vexample: pmulab profiles",
	};

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	for (unsigned i = 0; kperf_profile(i); i++)
		printf("%s%s\n", kperf_profile(i), i ? "" : " (default)");
	return 0;
}

static bool preset_has(const struct machine_preset *preset, uint16_t number)
{
	for (unsigned i = 0; i < preset->nevents; i++)
		if (preset->events[i] == number)
			return true;
	return false;
}

static void print_event(const struct pmuv3_event_desc *event)
{
	printf("  0x%02x %-22s %s", event->number, event->name, event->rule);
	if (event->model)
		printf(" (%s model)", event->model);
	putchar('\n');
}

int cmd_events(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = no_arguments,
		.doc = "List the hardware events, and which machine preset has them."
		       "\vexample: pmulab events",
	};
	const struct machine_preset *preset;
	const struct pmuv3_event_desc *events;
	unsigned n;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	events = pmuv3_events(&n);
	for (unsigned p = 0; (preset = machine_preset_at(p)); p++) {
		printf("%s: %s; %u event counters\n", preset->name, preset->what,
		       preset->counters);
		for (unsigned i = 0; i < n; i++)
			if (preset_has(preset, events[i].number))
				print_event(&events[i]);
	}
	return 0;
}
