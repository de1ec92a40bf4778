/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: grammar v1 parsed to a list of steps, the steps compiled to the
 * agent's image, and the counts that the image must give predicted by
 * arithmetic alone.
 *
 * Errors are one line, "FILE:LINE: what" or "FILE:LINE:COLUMN: what" where a
 * word is to blame, and errno tells the kind:
 *     EINVAL  the text is not a scenario
 *     ENOSYS  it is one, and uses something of the grammar not built yet
 *     others  the file could not be read
 */
#ifndef PMULAB_CORPUS_COMPILER_SCENARIO_H
#define PMULAB_CORPUS_COMPILER_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* What linux-6.1 calls the size of struct perf_event_attr. The host's header
 * may be newer; scenarios must not change with it. */
enum {
	SCN_ATTR_SIZE = 128
};

enum {
	SCN_MAX_EVENTS = 64,
	SCN_MAX_TASKS = 16, /* AGENT_MAX_TASKS */
	SCN_SIGINFO_SIZE = 128, /* at the end of a signal step's buffer */
	SCN_MAX_ARGS = 6
};

enum scn_verb {
	SCN_OPEN,
	SCN_CLOSE,
	SCN_MMAP,
	SCN_MUNMAP,
	SCN_IOCTL,
	SCN_READ,
	SCN_POLL,
	SCN_PAGE,
	SCN_RECORDS,
	SCN_PEEK,
	SCN_POKE,
	SCN_RUN,
	SCN_INJECT,
	SCN_MASK,
	SCN_UNMASK,
	SCN_AT_HAL,
	SCN_AT_OVERFLOW,
	SCN_CALL,
	SCN_THREAD,
	SCN_FORK,
	SCN_EXEC,
	SCN_WAIT,
	SCN_EXIT,
	SCN_YIELD,
	SCN_SWITCH,
	SCN_WAKE,
	SCN_PAUSE,
	SCN_SYNC,
	SCN_SLEEP,
	SCN_AFFINITY,
	SCN_TOUCH,
	SCN_MAP,
	SCN_PRCTL,
	SCN_UNSHARE,
	SCN_SETUID,
	SCN_RLIMIT,
	SCN_SYSCTL,
	SCN_FCNTL,
	SCN_RDPMC,
	SCN_SIGNAL,
	SCN_HOSTILE,
	SCN_VERBS,
};

/* Which instructions an event counts, as far as the scenario tells. */
enum scn_counts {
	SCN_COUNTS_EL0,	    /* exactly the agent's EL0 instructions */
	SCN_COUNTS_EL1,	    /* the kernel's only (exclude=user) */
	SCN_COUNTS_BOTH,    /* both */
	SCN_COUNTS_NOTHING, /* no instruction counts: SW_INCR, or both excluded */
	SCN_COUNTS_PART,    /* of the agent's EL0 instructions always the same ones */
	SCN_COUNTS_SOFT,    /* what the kernel sees happen: faults, switches, moves */
	SCN_COUNTS_UNKNOWN, /* other types, frequency, other tasks' work */
};

struct scn_event {
	char *name;
	unsigned line;
	struct perf_event_attr attr; /* the first SCN_ATTR_SIZE bytes of @bytes */
	uint8_t *bytes;		     /* what the kernel will read */
	size_t nbytes;
	bool raw; /* attr-raw */
	enum scn_counts counts;
	/* Of the image: value slots and the attr's address. */
	uint8_t fd_slot, map_slot;
	uint64_t attr_addr;
};

/*
 * A task: its steps, in the text's order, are one run of the image's operations.
 * The first is `main`; a scenario without another and without exec is a plain one,
 * whose image knows nothing of tasks.
 */
enum scn_task_kind {
	SCN_TASK_MAIN,
	SCN_TASK_THREAD,
	SCN_TASK_FORK
};

struct scn_task {
	char *name;
	enum scn_task_kind kind;
	unsigned line;
	int parent;	  /* who made it, -1: main */
	int process;	  /* the task that leads its process */
	unsigned ns;	  /* its pid namespace; 0 is the first */
	unsigned made;	  /* step that makes it, 0: main */
	bool waited;	  /* the text has a `wait` for it */
	unsigned execs;	  /* how often it calls execve */

	/* Of the image. */
	unsigned first_op, nops; /* with its AGENT_END */
	int made_op;		 /* CLONE, its result is the maker's view; -1 main */
	int tid_op;		 /* gettid, its own view; main: getpid */
	uint64_t tid_addr;	 /* u32, 0 once a thread is gone */
	uint64_t log;
};

struct scn_step {
	unsigned number; /* from 1, as traces number them */
	unsigned line;
	char *words; /* the scenario's own, one space between two */
	enum scn_verb verb;
	int event; /* index into events, -1: none */
	int task;  /* whose step it is */
	int peer;  /* the other task: thread, fork, wait, switch, wake, sync; open
		    * pid=TASK; fcntl owner. -1: none */

	/* Of the image, known as soon as the scenario is parsed. */
	int op;		  /* the visible operation; its result is the step's */
	int id_op;	  /* open: the hidden ioctl(ID) behind it, -1 else */
	uint64_t id_addr; /* open: where that id is stored */
	uint64_t buf;	  /* address in the data area of what the step reads or
		       * fills: read, poll (struct pollfd), ioctl id, period */
	uint64_t buf_size;

	/* Of the verb. */
	int32_t pid, cpu;    /* open; pid 0 self, -1 any */
	int other;	     /* open: group leader; set-output: target; inject by
				* event: that event; modify: the event whose attr
				* it is. Index, -1: none */
	uint32_t flags;	     /* open */
	uint64_t pages;	     /* mmap: data pages */
	uint64_t data_bytes; /* records, peek: of the mapping, 0 when header only */
	bool mapped;	     /* records, peek, page, poke: an mmap stands before it */
	uint32_t prot;	     /* mmap: PROT_READ 1, PROT_WRITE 2 */
	uint64_t offset;     /* mmap: bytes; poke: of the store in the mapping */
	uint32_t cmd;	     /* ioctl: PERF_EVENT_IOC_* */
	uint64_t arg;	     /* ioctl: argument; period: the value; poke: value */
	bool group;	     /* ioctl: PERF_IOC_FLAG_GROUP */
	bool raw;	     /* ioctl raw: cmd and arg as the text has them */
	uint64_t size;	     /* read: count argument */
	int64_t timeout_ms;  /* poll */
	unsigned workload;   /* run: AGENT_WL_* */
	uint64_t n;	     /* run, inject: how many */
	int counter;	     /* inject by counter: 0..31, -1 by event */
	unsigned el;	     /* inject */
	uint32_t nr;	     /* call: system call number; its first argument is
			      * the event's fd */
	uint64_t args[5];    /* call: the others */
	unsigned in_buf;     /* call: bit i: args[i] is the address of buf */
	uint64_t at;	     /* at hal K: K; at EV[nth]: nth */
	uint64_t value;	     /* exit, sleep, affinity, setuid, rlimit: the number;
			      * touch: address */
	char *text;	     /* prctl name, map, sysctl NAME */
	char *text2;	     /* sysctl VALUE */
	bool shared;	     /* map */
	bool write;	     /* touch */
	unsigned map;	     /* map: which of AGENT_MAP(); exec: which of its
			      * task's */
};

/* Operations of the image, all tasks' one after the other. */
enum scn_effect {
	SCN_OP_PLAIN,
	SCN_OP_CLONE, /* starts task @which */
	SCN_OP_EXEC,
	SCN_OP_POST, /* adds one to eventfd @which */
	SCN_OP_PEND, /* takes one from it, or sleeps */
	SCN_OP_SETTLE, /* sleeps until all others do, which takes no time */
	SCN_OP_WAIT, /* sleeps until task @which is gone */
	SCN_OP_EXIT, /* ends the task; @which: 1 its whole process too */
};

struct scn_op {
	uint64_t args[6];
	uint8_t slot[6];
	uint8_t dst;
	uint16_t kind, nr;
	/* Not in the image: what it does, whose it is. */
	enum scn_effect effect;
	unsigned which;
	int step; /* index, -1: of no step */
	bool visible;
};

struct scn_arg {
	char *name, *text;
	uint64_t value; /* of text when it is a number */
	bool number;
};

/* expect bus KIND ..., expect probe FUNCTION ...: not a step; it speaks of step
 * @after's own events. */
struct scn_expect {
	unsigned line;
	bool probe; /* @kind is a function of Linux's that a kprobe can stand on */
	unsigned after; /* step number, 0: before the first */
	char *words;
	char *kind;
	unsigned nargs;
	struct scn_arg args[SCN_MAX_ARGS];
	uint64_t times; /* 1 unless given */
};

struct scn_machine {
	char *preset; /* "qemu-a57" unless given */
	unsigned cpus;
	unsigned counters; /* UINT_MAX: the preset's */
	unsigned hz;	   /* 0: the preset's */
	uint64_t skid;
	enum {
		SCN_IRQ_OK,
		SCN_IRQ_NONE,
		SCN_IRQ_FAIL
	} irq;
	bool poison;   /* reset=poison */
	unsigned line; /* 0: no machine line */
};

struct scn {
	char *name; /* file name without folder and .scn */
	char *file; /* as given, for messages */
	struct scn_machine machine;
	struct scn_event *events;
	unsigned nevents;
	struct scn_step *steps;
	unsigned nsteps;
	struct scn_expect *expects;
	unsigned nexpects;
	bool may_throttle;	   /* it sets the limit: no sampling event's count is
				    * foretold */
	const char *emulator_only; /* why, NULL when real Linux can run it */

	struct scn_task *tasks;
	unsigned ntasks; /* at least 1 */
	bool shared;	 /* several tasks, or an exec: the image has a table */
	unsigned nmaps;	 /* `map` so far */
	/* eventfds: one a task for `switch`, one a pair and direction for `sync` */
	unsigned nposts;
	struct {
		int from, to; /* from -1: baton of @to */
	} posts[96];

	/* Of the image. */
	int pid_op;    /* the first, hidden operation: getpid */
	struct scn_op *ops;
	unsigned nops; /* without the final AGENT_END */
	uint64_t data; /* address of the data area */
	uint64_t pause_addr; /* shared: a timespec, and room for a status behind */
	uint64_t data_size;
};

/* NULL, @err and errno as said above. */
struct scn *scn_load(const char *path, char *err, size_t errsize);
struct scn *scn_parse(const char *file, const char *text, size_t n, char *err,
		      size_t errsize);
void scn_free(struct scn *scn); /* NULL is allowed */

/* Index into @scn->events, -1 when there is no such event. */
int scn_event_find(const struct scn *scn, const char *name);
/* The same of @scn->tasks. */
int scn_task_find(const struct scn *scn, const char *name);

/* The image as agent-abi.h describes it; *image is malloc()ed. 0, or -1 with
 * @err and errno when the scenario does not fit into an image. */
int scn_compile(const struct scn *scn, uint8_t **image, size_t *size, char *err,
		size_t errsize);

/* Of one event after one step. */
struct scn_count {
	bool known; /* @value is what a read would have given */
	uint64_t value;
	bool samples_known;
	uint64_t samples; /* overflows so far of a fixed period */
	bool at_edge;	  /* an overflow fell on the last instruction of a
			     * window: its sample is the kernel's to place */
	uint64_t el0_ns;  /* enabled time spent in EL0, a lower bound */
	unsigned windows; /* how often counting has begun */
};

/* counts[(number - 1) * nevents + event]: the state when that step's own system
 * call has been made; free() it. @results holds one result an operation as the log
 * has them (errors negative, a drain's bytes), or is NULL: then every step is
 * taken to succeed, and a window with a drain in it is not known. */
struct scn_count *scn_predict(const struct scn *scn, const int64_t *results,
			      size_t nresults);

#endif
