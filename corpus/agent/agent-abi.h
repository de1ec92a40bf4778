/* SPDX-License-Identifier: MIT */
/*
 * What the scenario compiler and the agent agree on. Included by C and by
 * assembly; everything that both sides must know stands here and nowhere else.
 *
 * The compiler writes an image; the agent reads it from fd 0 to AGENT_BASE,
 * runs its operations and writes the log to fd 1 as text:
 *
 *     @pmulab-log v1
 *     r OP RESULT          one line an operation, in order, hex without 0x
 *     d ADDRESS HEX...     the data area after the run, up to 32 bytes a line
 *     l HEX...             the drain log, up to 32 bytes a line
 *     @end LINES           how many lines stood between; a cut log is refused
 *
 * Image, at AGENT_BASE: header, operations, data. All little-endian.
 *
 * An image of several tasks has another magic and begins its data with a table:
 * u32 how many, u32 0, then for each task u32 first operation, u32 how many. Its
 * operations stand task after task, each task's last is AGENT_END, and the
 * header counts all but the very last. Image, results, log and values lie in
 * memory of one memfd then, shared over fork, and over exec by AGENT_SHARED_FD;
 * every task drains into AGENT_TASK_LOG bytes of its own, and the log's `l` lines
 * are those areas' used parts, one task after the other.
 */
#ifndef PMULAB_AGENT_ABI_H
#define PMULAB_AGENT_ABI_H

#define AGENT_MAGIC	0x30626c75 /* "ulb0" */
#define AGENT_MAGIC_TASKS 0x31626c75 /* "ulb1" */

/* Fixed addresses (bytes). All of them are mapped and touched before the first
 * operation, so none faults inside a measured window. */
#define AGENT_DISPATCH	0x00410000 /* the dispatcher's code */
#define AGENT_WORKLOADS	0x00420000 /* the workloads' code */
#define AGENT_BASE	0x10000000
#define AGENT_SIZE	0x00400000 /* image: header, operations, data */
#define AGENT_RESULTS	0x11000000 /* one u64 an operation */
#define AGENT_RESULTS_SIZE 0x00100000
#define AGENT_LOG	0x12000000 /* what drains copied */
#define AGENT_LOG_SIZE	0x00800000
#define AGENT_SCRATCH	0x13000000 /* memory that load and store work on */
#define AGENT_SCRATCH_SIZE 0x00010000
#define AGENT_VALUES	0x11200000 /* several tasks: value[256] */
#define AGENT_VALUES_SIZE 0x00001000
#define AGENT_STACKS	0x14000000 /* threads' stacks, AGENT_STACK_SIZE a task */
#define AGENT_STACK_SIZE 0x00004000
#define AGENT_MAP(i)	(0x70000000 + (i) * 0x01000000) /* i-th `map` */
#define AGENT_MAX_MAPS	16
#define AGENT_RING(i)	(0x20000000 + (i) * 0x01000000) /* mapping of event i */
#define AGENT_MAX_RINGS	64

/* Several tasks. Offsets in the memfd are those of the areas behind one another. */
#define AGENT_MAX_TASKS	16
#define AGENT_TASK_LOG	0x00040000
#define AGENT_TASKS_LOG_SIZE (AGENT_MAX_TASKS * AGENT_TASK_LOG)
#define AGENT_SHARED_FD	100
#define AGENT_AT_RESULTS AGENT_SIZE
#define AGENT_AT_LOG	(AGENT_AT_RESULTS + AGENT_RESULTS_SIZE)
#define AGENT_AT_VALUES	(AGENT_AT_LOG + AGENT_TASKS_LOG_SIZE)
#define AGENT_SHARED_SIZE (AGENT_AT_VALUES + AGENT_VALUES_SIZE)
#define AGENT_NOT_RUN	0x8000000000000000 /* result of what never returned */

/* What a new image of exec needs to go on: its address is argv[1], eight letters
 * of four bits each, `a` for 0. The EXEC operation's own address stands there
 * from the start; where the log goes on and ends is stored before the call. */
#define AGENT_RESUME_OP	0
#define AGENT_RESUME_LOG 8
#define AGENT_RESUME_LOG_END 16
#define AGENT_RESUME_SIZE 24

/* struct agent_header */
#define AGENT_HDR_MAGIC	0  /* u32 */
#define AGENT_HDR_NOPS	4  /* u32, without the final AGENT_OP_END */
#define AGENT_HDR_DATA	8  /* u32: offset of the data area in the image */
#define AGENT_HDR_DATA_SIZE 12 /* u32 */
#define AGENT_HDR_OPS	16 /* the first operation */

/* struct agent_op, 64 bytes */
#define AGENT_OP_ARGS	0  /* u64[6] */
#define AGENT_OP_KIND	48 /* u16 */
#define AGENT_OP_NR	50 /* u16: system call number */
#define AGENT_OP_SLOT	52 /* u8[6]: argument i is args[i] + value[slot[i]] */
#define AGENT_OP_DST	58 /* u8: value[dst] = result; AGENT_SLOT_NONE: nowhere */
#define AGENT_OP_SIZE	64

#define AGENT_SLOT_ZERO	0   /* always 0 */
#define AGENT_SLOT_NONE	255 /* results nobody wants go here */

/* The general register that holds the current operation's address while the
 * dispatcher or anything it calls runs. An observer tells the step from it. */
#define AGENT_OP_REG	19

/* Kinds. Result of each in brackets. */
#define AGENT_END	0
#define AGENT_SYSCALL	1 /* nr, all six arguments [x0] */
#define AGENT_RUN	2 /* args: workload number, n [0] */
#define AGENT_DRAIN	3 /* args: ring address, data bytes (power of two). Copies
			   * data_tail..data_head to the log behind a u64 with its
			   * length in bytes, then data_tail = data_head [bytes] */
#define AGENT_PEEK	4 /* as DRAIN, but data_tail stays [bytes] */
#define AGENT_POKE	5 /* args: address, value: store 8 bytes [0] */
#define AGENT_PAGE	6 /* args: address, bytes (multiple of 8): copy to the log
			   * behind a u64 with the length [bytes] */
#define AGENT_TOUCH	7 /* args: address, bytes: load one word a page [0] */
/* The kinds' table goes on behind the workloads' one, whose address goldens hold
 * in a register: 8 to 13 are no kinds. */
#define AGENT_CLONE	14 /* args: flags, stack, tid word, the child's first
			    * operation, tid word to clear, the child's log [id] */
#define AGENT_EXEC	15 /* args: path, argv, envp, resume block. In the new image
			    * [0], the next operation follows; else [-errno] */
#define AGENT_DIRTY	16 /* args: address, bytes: as TOUCH, but makes each page
			    * writable for the task, changing nothing [0] */
#define AGENT_RDPMC	17 /* args: mmap page's address: the count as user space
			    * reads it, mrs and all [count, -ENOENT: no index] */
#define AGENT_KINDS	18
#define AGENT_KIND_HOLE	8
#define AGENT_KIND_HOLE_END 14

/* Workloads, by number; the instruction count of each stands in workloads.S. */
#define AGENT_WL_SPIN	0
#define AGENT_WL_LOAD	1
#define AGENT_WL_STORE	2
#define AGENT_WL_BRANCH	3
#define AGENT_WL_MIXED	4
#define AGENT_WL_FRAMES	5 /* n: depth, at most AGENT_WL_FRAMES_MAX */
#define AGENT_WORKLOAD_COUNT 6

#define AGENT_WL_FRAMES_MAX 512
#define AGENT_WL_FRAMES_SPIN 1000 /* turns at the bottom */

/* Laboratory calls (emulator only): system call AGENT_LAB_BASE + n. */
#define AGENT_LAB_BASE	0x7000
#define AGENT_LAB_INJECT 0 /* counter by fd (arg 0 >= 0) or by number (arg 1), n
			    * (arg 2), el (arg 3). By fd: n events as if the
			    * hardware had seen them. By number (arg 0 = -1): forced
			    * whatever the enables say [0 or -errno] */
#define AGENT_LAB_MASK	1 /* ICC_PMR_EL1 = 0: no interrupt gets through */
#define AGENT_LAB_UNMASK 2 /* ICC_PMR_EL1 = 0xf0 */
#define AGENT_LAB_AT_HAL 3 /* arm: at the arg 4-th hal operation from the next
			    * system call on, inject (args 0..3 as INJECT) */
#define AGENT_LAB_AT_OVF 4 /* arm: right after the handler that served the arg
			    * 5-th overflow from now of the event of fd arg 4 has
			    * set PMCR.E again, inject (args 0..3 as INJECT) */
#define AGENT_LAB_HOSTILE 5 /* while on (arg 1), at each hal operation somebody writes
			    * over the header page of the ring mapped at arg 0 */

#endif
