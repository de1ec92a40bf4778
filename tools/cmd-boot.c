/* SPDX-License-Identifier: MIT */
/* pmulab boot: a guest image on the board, its console on stdout. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conformance/runner.h"
#include "emu/board.h"
#include "tools/bus-text.h"
#include "tools/pmulab.h"

enum {
	KEY_COUNTERS = 256,
	KEY_PMUVER,
	KEY_MAX_INSNS,
	KEY_QUANTUM,
	KEY_PRESET,
	KEY_KASLR,
	KEY_POISON,
	KEY_TIMING,
	KEY_SKID,
	EXIT_CUT = 3, /* the limit was reached, or nothing was left to wait for */
	MIB = 1 << 20,
};

struct args {
	const char *image, *initrd, *append, *trace;
	const struct machine_preset *preset;
	const struct timing_model *timing;
	enum cpu_engine engine;
	uint64_t skid, cpus, memory, max_insns, quantum, kaslr_seed;
	int64_t counters;
	int pmuver;
	bool poison, verbose;
};

static const struct argp_option options[] = {
	{ "initrd", 'i', "FILE", 0, "Initial RAM disk", 0 },
	{ "append", 'a', "STR", 0, "Boot arguments", 0 },
	{ "cpus", 'c', "N", 0, "CPUs, 1 to 8 (default 1)", 0 },
	{ "memory", 'm', "MIB", 0, "RAM in MiB, 16 to 1024 (default 256)", 0 },
	{ "preset", KEY_PRESET, "NAME", 0, "Machine preset (default full)", 0 },
	{ "counters", KEY_COUNTERS, "N", 0, "Event counters, 0 to 31 (default: the preset's)", 0 },
	{ "pmuver", KEY_PMUVER, "V", 0, "p0, p1, p4, p5 or p7 (default: the preset's)", 0 },
	{ "kaslr-seed", KEY_KASLR, "N", 0,
	  "Seed in the device tree by which Linux places itself (default: none)", 0 },
	{ "poison", KEY_POISON, NULL, 0, "PMU registers hold junk at reset", 0 },
	{ "max-insns", KEY_MAX_INSNS, "N", 0, "Stop after N instructions", 0 },
	{ "quantum", KEY_QUANTUM, "N", 0, "Cycles of a CPU's turn (default 20000)", 0 },
	{ "timing", KEY_TIMING, "T", 0, "icount (default) or inorder", 0 },
	{ "skid", KEY_SKID, "N", 0, "Cycles between an interrupt and its being taken", 0 },
	{ "engine", 'e', "ENGINE", 0, "step (reference) or block (default)", 0 },
	{ "trace", 't', "FILE", 0, "Write every event of the machine's bus there", 0 },
	{ "verbose", 'v', NULL, 0, "Say on stderr how the run ended and what it took", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct args *args)
{
	switch (key) {
	case KEY_COUNTERS:
		args->counters = (int64_t)parse_count("counters", arg, 0, 31);
		return 0;
	case KEY_PMUVER:
		args->pmuver = pmuv3_version_from_name(arg);
		if (args->pmuver >= 0)
			return 0;
		complain("--pmuver takes p0, p1, p4, p5 or p7: %s", arg);
		exit(EXIT_USAGE);
	case KEY_PRESET:
		args->preset = machine_preset(arg);
		if (args->preset)
			return 0;
		complain("no such preset: %s", arg);
		exit(EXIT_USAGE);
	case KEY_MAX_INSNS:
		args->max_insns = parse_count("max-insns", arg, 1, UINT64_MAX);
		return 0;
	case KEY_QUANTUM:
		args->quantum = parse_count("quantum", arg, 100, UINT32_MAX);
		return 0;
	case KEY_KASLR:
		args->kaslr_seed = parse_count("kaslr-seed", arg, 1, UINT64_MAX);
		return 0;
	case KEY_TIMING:
		args->timing = need_timing(arg);
		return 0;
	case KEY_SKID:
		args->skid = parse_count("skid", arg, 0, UINT32_MAX);
		return 0;
	case KEY_POISON:
		args->poison = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		one_line_errors(state);
		break;
	case 'i':
		args->initrd = arg;
		break;
	case 'a':
		args->append = arg;
		break;
	case 'c':
		args->cpus = parse_count("cpus", arg, 1, MACHINE_CPUS);
		break;
	case 'm':
		args->memory = parse_count("memory", arg, 16, 1024);
		break;
	case 'e':
		args->engine = need_engine(arg);
		break;
	case 't':
		args->trace = arg;
		break;
	case 'v':
		args->verbose = true;
		break;
	case ARGP_KEY_ARG:
		if (args->image)
			usage_error("one image at a time: %s", arg);
		args->image = arg;
		break;
	case ARGP_KEY_NO_ARGS:
		usage_error("which image? See --help");
		break;
	default:
		return parse_option(key, arg, args);
	}
	return 0;
}

static void put(void *opaque, uint8_t byte)
{
	(void)opaque;
	putchar(byte);
	if (byte == '\n')
		fflush(stdout);
}

static void guest_error(void *opaque, const struct guest_error *error)
{
	const struct args *args = opaque;

	if (args->verbose)
		fprintf(stderr, "pmulab: guest error: %s %s of %u bytes at 0x%" PRIx64 "\n",
			error->device, error->write ? "write" : "read", error->size,
			error->offset);
}

/* What the run took of the host. */
static void tell_usage(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return;
	fprintf(stderr, "pmulab: host CPU %lld.%02ld s, at most %ld MiB\n",
		(long long)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
			(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000000,
		(long)((usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) % 1000000 / 10000),
		usage.ru_maxrss / 1024);
}

static int ended(const struct args *args, struct board *board, enum board_end end)
{
	const struct machine *m = board_machine(board);
	static const char *const how[] = {
		[BOARD_OFF] = "off",
		[BOARD_RESET] = "reset",
		[BOARD_LIMIT] = "instruction limit reached",
		[BOARD_STUCK] = "every CPU waits and nothing is due",
		[BOARD_ERROR] = "error",
	};

	fflush(stdout);
	if (args->verbose)
		fprintf(stderr, "pmulab: %s after %" PRIu64 " instructions, %" PRIu64
				" cycles\n", how[end], m->insns, m->now);
	if (args->verbose)
		tell_usage();
	switch (end) {
	case BOARD_OFF:
	case BOARD_RESET:
		return board_exit_status(board) < 0 ? 0 : board_exit_status(board);
	case BOARD_ERROR:
		complain("%s", board_error(board));
		return EXIT_USAGE;
	case BOARD_LIMIT:
	case BOARD_STUCK:
		break;
	}
	if (!args->verbose)
		complain("%s", how[end]);
	return EXIT_CUT;
}

static int boot(struct args *args, const struct board_config *config)
{
	struct bus_text bus = { 0 };
	struct board *board;
	char err[256];
	int rc;

	board = board_create(config, err, sizeof(err));
	if (!board) {
		complain("%s: %s", args->image, err);
		return EXIT_USAGE;
	}
	if (args->trace && bus_text_open(&bus, args->trace, board_machine(board))) {
		complain("%s: %s", args->trace, strerror(errno));
		board_destroy(board);
		return EXIT_USAGE;
	}
	rc = ended(args, board, board_run(board));
	if (args->trace && bus_text_close(&bus)) {
		complain("%s: %s", args->trace, strerror(errno));
		rc = EXIT_USAGE;
	}
	board_destroy(board);
	return rc;
}

static void *slurp(const char *path, size_t *size)
{
	char err[512];
	void *data = runner_slurp(path, size, err, sizeof(err));

	if (!data)
		complain("%s", err);
	return data;
}

int cmd_boot(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "IMAGE",
		.doc = "Boot an arm64 image (Linux Image, ELF or flat binary) on a board like QEMU's "
		       "virt: GICv3, generic timers, PL011 on stdout, PSCI. The exit status is the "
		       "guest's where it has a way to say it, else 0 at power off; 3 when the run was "
		       "cut."
		       "\vexample: pmulab boot Image --initrd initrd.gz --append console=ttyAMA0",
	};
	struct args args = {
		.preset = machine_preset("full"),
		.engine = CPU_ENGINE_BLOCK,
		.cpus = 1,
		.memory = 256,
		.counters = -1,
	};
	struct board_config config;
	size_t size = 0, initrd_size = 0;
	void *image, *initrd = NULL;
	int rc = EXIT_USAGE;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	image = slurp(args.image, &size);
	if (image && args.initrd)
		initrd = slurp(args.initrd, &initrd_size);
	if (image && (initrd || !args.initrd)) {
		config = (struct board_config){
			.machine = {
				.preset = args.preset,
				.engine = args.engine,
				.timing = args.timing,
				.skid = args.skid,
				.counters = (int)args.counters,
				.pmuver = args.pmuver,
				.poison_reset = args.poison,
				.ram_size = (size_t)args.memory * MIB,
				.cpus = (unsigned)args.cpus,
				.max_insns = args.max_insns,
			},
			.image = { image, size },
			.initrd = { initrd, initrd_size },
			.append = args.append,
			.kaslr_seed = args.kaslr_seed,
			.quantum = args.quantum,
			.output = put,
			.guest_error = guest_error,
			.opaque = &args,
		};
		rc = boot(&args, &config);
	}
	free(initrd);
	free(image);
	return rc;
}
