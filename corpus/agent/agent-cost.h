/* SPDX-License-Identifier: MIT */
/*
 * How many EL0 instructions each operation of the agent executes. For C and
 * for assembly: the compiler predicts counts from these, agent.S and
 * workloads.S derive them beside the code and fail to assemble where a
 * straight line of theirs has another length.
 *
 * An event that counts EL0 only sees, from ENABLE to DISABLE: the tail of the
 * ENABLE, every operation between as a whole, and the head of the DISABLE (its
 * SVC is counted, the ENABLE's is not).
 */
#ifndef PMULAB_AGENT_COST_H
#define PMULAB_AGENT_COST_H

/* Fetching an operation and jumping to its code; storing a result and going
 * on to the next. Part of every figure below. */
#define AGENT_COST_FETCH	3
#define AGENT_COST_FINISH	6

/* A system call up to and including its SVC, and what follows it. */
#define AGENT_COST_SYSCALL_HEAD	26
#define AGENT_COST_SYSCALL_TAIL	6
#define AGENT_COST_SYSCALL	(AGENT_COST_SYSCALL_HEAD + AGENT_COST_SYSCALL_TAIL)

/* A run: all but the workload itself (AGENT_WL_*_COST). The part before the
 * workload's first instruction, for whoever predicts an IP. A workload number
 * out of range or n = 0 gives -EINVAL without a run. */
#define AGENT_COST_RUN_HEAD	16
#define AGENT_COST_RUN		23
#define AGENT_COST_RUN_BAD_NUMBER 19
#define AGENT_COST_RUN_BAD_N	20

/* A drain or a peek: base, and each 8 bytes copied. -ENOSPC when the log has
 * no room for them, -EFAULT when the address is an error value (or adds to the
 * value of a slot that is one). */
#define AGENT_COST_DRAIN_BASE	43
#define AGENT_COST_DRAIN_WORD	6
#define AGENT_COST_DRAIN_FULL	36
#define AGENT_COST_PEEK_BASE	41
#define AGENT_COST_PEEK_WORD	6
#define AGENT_COST_PEEK_FULL	36

#define AGENT_COST_POKE		22

#define AGENT_COST_PAGE_BASE	31
#define AGENT_COST_PAGE_WORD	4
#define AGENT_COST_PAGE_FULL	26

/* Pages are those of 4 KiB that (bytes + 4095) / 4096 gives. */
#define AGENT_COST_TOUCH_BASE	26
#define AGENT_COST_TOUCH_PAGE	4

/* A clone up to and including its SVC; what follows it in the caller, and in the
 * child up to its first operation. */
#define AGENT_COST_CLONE_HEAD	9
#define AGENT_COST_CLONE_TAIL	7
#define AGENT_COST_CLONE_CHILD	11

/* An exec up to and including its SVC; all of the new image up to its first
 * operation; what follows a call that failed. */
#define AGENT_COST_EXEC_HEAD	8
#define AGENT_COST_EXEC_NEW	119
#define AGENT_COST_EXEC_TAIL	6

#define AGENT_COST_DIRTY_BASE	26
#define AGENT_COST_DIRTY_PAGE	5

/* A read of a counter up to and including the mrs (or what stands for it when
 * the page has no index), and what follows. */
#define AGENT_COST_RDPMC_HEAD	22
#define AGENT_COST_RDPMC_TAIL	12
#define AGENT_COST_RDPMC_NONE	25

/* -EFAULT from DRAIN, PEEK, POKE, PAGE, TOUCH: by the slot's value, or by the
 * sum with the argument. */
#define AGENT_COST_FAULT_SLOT	16
#define AGENT_COST_FAULT_SUM	18

/* Workloads: all of them, from the first instruction to the RET, n >= 1. */
#define AGENT_WL_SPIN_LOOP	8
#define AGENT_WL_LOAD_LOOP	10
#define AGENT_WL_STORE_LOOP	10
#define AGENT_WL_BRANCH_LOOP	24
#define AGENT_WL_MIXED_LOOP	25
#define AGENT_WL_FRAMES_LEVEL	7 /* one call and its return */
#define AGENT_WL_SPIN_REST	3
#define AGENT_WL_LOAD_REST	3
#define AGENT_WL_STORE_REST	3
#define AGENT_WL_BRANCH_REST	7
#define AGENT_WL_MIXED_REST	7
#define AGENT_WL_FRAMES_REST	5
#define AGENT_WL_SPIN_COST(n)	(AGENT_WL_SPIN_REST + AGENT_WL_SPIN_LOOP * (n))
#define AGENT_WL_LOAD_COST(n)	(AGENT_WL_LOAD_REST + AGENT_WL_LOAD_LOOP * (n))
#define AGENT_WL_STORE_COST(n)	(AGENT_WL_STORE_REST + AGENT_WL_STORE_LOOP * (n))
#define AGENT_WL_BRANCH_COST(n)	(AGENT_WL_BRANCH_REST + AGENT_WL_BRANCH_LOOP * (n))
#define AGENT_WL_MIXED_COST(n)	(AGENT_WL_MIXED_REST + AGENT_WL_MIXED_LOOP * (n))
/* n is the depth; the loop at the bottom has a fixed length. */
#define AGENT_WL_FRAMES_COST(n) \
	(AGENT_WL_FRAMES_REST + AGENT_WL_FRAMES_LEVEL * (n) + 3 * AGENT_WL_FRAMES_SPIN)

#endif
