/* SPDX-License-Identifier: MIT */
/*
 * The agent: entry, and the dispatcher that runs an image (agent-abi.h).
 *
 * The dispatcher's code spends a fixed number of instructions an operation, so
 * that every EL0 count is known before the run. A sum stands beside each piece
 * as (so far); CHECK refuses to assemble when the pieces no longer give the
 * figure of agent-cost.h. General registers only, no stack between operations.
 *
 *	x19  the operation		x22  where the log goes on
 *	x20  where its result goes	x23  the log's end
 *	x21  value[256]			x24  table of kinds
 *	x25  table of workloads		x26  return address
 *
 * x0 to x15 are scratch, for the workloads too. The kernel keeps all but x0.
 */
#include <asm/unistd.h>

#include "corpus/agent/agent-abi.h"
#include "corpus/agent/agent-cost.h"

#define PAGE_INDEX	12   /* struct perf_event_mmap_page: index */
#define PAGE_OFFSET	16   /* offset */
#define PAGE_WIDTH	48   /* pmc_width */
#define RING_HEAD	1024 /* data_head */
#define RING_TAIL	1032 /* data_tail */
#define PAGE_SHIFT	12
#define PAGE		(1 << PAGE_SHIFT)
#define ERRNO_MAX	4095 /* -4095..-1 are errors, as the kernel has it */

#define ERR_NOENT	2
#define ERR_FAULT	14
#define ERR_INVAL	22
#define ERR_NOSPC	28

#define PROT_RW		3
#define MAP_FLAGS	0x8032 /* POPULATE | ANONYMOUS | FIXED | PRIVATE */
#define MAP_SHARED_FLAGS 0x8011 /* POPULATE | FIXED | SHARED */

#define STACK_SIZE	16384

/* The instructions from \from to \to must be \cost. */
.macro CHECK from, to, cost
	.if ((\to) - (\from)) / 4 != (\cost)
	.error "agent-cost.h has another figure"
	.endif
.endm

.macro FUNC name
	.globl \name
	.type \name, %function
\name:
.endm

.macro ENDFUNC name
	.size \name, . - \name
.endm

/* ------------------------------------------------------------------ entry */

	.section .text.start, "ax", %progbits

.macro MAP base, size
	ldr	x0, =\base
	ldr	x1, =\size
	bl	map_fixed
.endm

.macro TOUCH how, begin, end
	ldr	x0, =\begin
	ldr	x1, =\end
	bl	\how
.endm

/* Shared memory of \fd from \offset on, or of nobody else's with fd -1: 8. */
.macro AREA base, size, fd, offset
	ldr	x0, =\base
	ldr	x1, =\size
	mov	x2, #PROT_RW
	.if	\fd < 0
	ldr	x3, =MAP_FLAGS
	.else
	ldr	x3, =MAP_SHARED_FLAGS
	.endif
	mov	x4, #\fd
	ldr	x5, =\offset
	mov	x8, #__NR_mmap
	svc	#0
.endm

/*
 * Map all fixed areas, touch everything that the run will use, read the image,
 * run it, print. Nothing after the dispatcher's start may fault, or the fault
 * would stand in somebody's EL1 count.
 */
FUNC _start
	adrp	x0, agent_stack_top
	add	x0, x0, :lo12:agent_stack_top
	mov	sp, x0
	mov	x29, xzr
	mov	x30, xzr
	MAP	AGENT_BASE, AGENT_SIZE
	MAP	AGENT_RESULTS, AGENT_RESULTS_SIZE
	MAP	AGENT_LOG, AGENT_LOG_SIZE
	MAP	AGENT_SCRATCH, AGENT_SCRATCH_SIZE
	TOUCH	touch_read, agent_start_begin, agent_start_end
	TOUCH	touch_read, agent_dispatch_begin, agent_dispatch_end
	TOUCH	touch_read, agent_workloads_begin, agent_workloads_end
	TOUCH	touch_read, agent_rodata_begin, agent_rodata_end
	TOUCH	touch_write, agent_data_begin, agent_data_end
	bl	agent_load	/* agent.c: reads and checks the image */
	bl	agent_dispatch
	mov	x0, x20
	mov	x1, x22
	b	agent_print	/* agent.c: does not return */
ENDFUNC _start

/* Without a stack or with one argument this is the first image: what it runs
 * stands at addresses that goldens hold, so it keeps its place. */
FUNC agent_entry
	mov	x1, sp
	cbz	x1, _start
	ldr	x0, [x1]
	cmp	x0, #2
	b.lo	_start
entry_end:
ENDFUNC agent_entry

/*
 * The image that exec made goes on where the one before stood: argv[1] names the
 * resume block. No call, no loop but one of a fixed length: an event may count
 * from here. 5, 3 + 8 * 5, 5 + 6 * 8 + 1, and the 17 of agent_resumed.
 */
FUNC agent_resume
	ldr	x2, [x1, #16]
	mov	x10, #0
	mov	x3, #8
resume_loop:
	ldrb	w4, [x2], #1
	sub	w4, w4, #'a'
	orr	x10, x4, x10, lsl #4
	subs	x3, x3, #1
	b.ne	resume_loop
resume_areas:
	adrp	x0, agent_stack_top
	add	x0, x0, :lo12:agent_stack_top
	mov	sp, x0
	mov	x29, xzr
	mov	x30, xzr
	AREA	AGENT_BASE, AGENT_SIZE, AGENT_SHARED_FD, 0
	AREA	AGENT_RESULTS, AGENT_RESULTS_SIZE, AGENT_SHARED_FD, AGENT_AT_RESULTS
	AREA	AGENT_LOG, AGENT_TASKS_LOG_SIZE, AGENT_SHARED_FD, AGENT_AT_LOG
	AREA	AGENT_VALUES, AGENT_VALUES_SIZE, AGENT_SHARED_FD, AGENT_AT_VALUES
	AREA	AGENT_SCRATCH, AGENT_SCRATCH_SIZE, -1, 0
	AREA	AGENT_STACKS, AGENT_MAX_TASKS * AGENT_STACK_SIZE, -1, 0
	b	agent_resumed
resume_end:
	CHECK	agent_entry, entry_end, 5
	CHECK	resume_loop, resume_areas, 5
	CHECK	resume_areas, resume_end, AGENT_COST_EXEC_NEW - 5 - 43 - 17
ENDFUNC agent_resume

/* x0 address, x1 size. Leaves the program with status 3 when it fails. */
FUNC map_fixed
	mov	x9, x0
	mov	x2, #PROT_RW
	mov	x3, #MAP_FLAGS
	mov	x4, #-1
	mov	x5, #0
	mov	x8, #__NR_mmap
	svc	#0
	cmp	x0, x9
	b.ne	1f
	ret
1:	mov	x0, #3
	mov	x8, #__NR_exit_group
	svc	#0
	b	1b
ENDFUNC map_fixed

/* x0 start, x1 end: touch a segment of the program itself. */
FUNC touch_read
1:	ldr	x3, [x0]
	add	x0, x0, #PAGE
	cmp	x0, x1
	b.lo	1b
	ret
ENDFUNC touch_read

FUNC touch_write
1:	ldr	x3, [x0]
	str	x3, [x0]
	add	x0, x0, #PAGE
	cmp	x0, x1
	b.lo	1b
	ret
ENDFUNC touch_write

	.ltorg

/* ------------------------------------------------------------- dispatcher */

	.section .dispatch, "ax", %progbits

/* Store x0 as the result and go on: AGENT_COST_FINISH (6). Slot 0 is put back
 * to 0 whatever an image names as destination. */
.macro FINISH
	ldrb	w9, [x19, #AGENT_OP_DST]
	str	x0, [x21, x9, lsl #3]
	str	xzr, [x21]
	str	x0, [x20], #8
	add	x19, x19, #AGENT_OP_SIZE
	b	agent_next
.endm

/* Argument \i in x\i, read before: add the value of its slot (3). */
.macro SLOT i
	ldrb	w9, [x19, #AGENT_OP_SLOT + \i]
	ldr	x9, [x21, x9, lsl #3]
	add	x\i, x\i, x9
.endm

/* Both arguments of an operation on memory, the first of them an address:
 * 1 + 3 + 2 + 2 + 3 = 11. cmn sets C for -4095..-1 and for nothing else. */
.macro ADDRESS_ARGS
	ldp	x0, x1, [x19]
	ldrb	w9, [x19, #AGENT_OP_SLOT]
	ldr	x9, [x21, x9, lsl #3]
	add	x0, x0, x9
	cmn	x9, #ERRNO_MAX
	b.hs	agent_fault
	cmn	x0, #ERRNO_MAX
	b.hs	agent_fault
	SLOT	1
.endm

/* Runs from AGENT_BASE's first operation to AGENT_END. Returns x20 and x22 as
 * they stand then. */
FUNC agent_dispatch
	mov	x26, x30
	ldr	x19, =AGENT_BASE + AGENT_HDR_OPS
	ldr	x20, =AGENT_RESULTS
	ldr	x21, =agent_values
	ldr	x22, =AGENT_LOG
	ldr	x23, =AGENT_LOG + AGENT_LOG_SIZE
	ldr	x24, =agent_kinds
	ldr	x25, =agent_workloads

/* Fetch: 3. The kind was checked when the image was loaded. */
agent_next:
	ldrh	w9, [x19, #AGENT_OP_KIND]
	ldr	x9, [x24, x9, lsl #3]
	br	x9
fetch_end:
	CHECK	agent_next, fetch_end, AGENT_COST_FETCH

/* Head: fetch 3 + 3 + 6 * 3 + 2 (the SVC is the last) = 26; tail: 6. */
kind_syscall:
	ldp	x0, x1, [x19]
	ldp	x2, x3, [x19, #16]
	ldp	x4, x5, [x19, #32]
	SLOT	0
	SLOT	1
	SLOT	2
	SLOT	3
	SLOT	4
	SLOT	5
	ldrh	w8, [x19, #AGENT_OP_NR]
	svc	#0
syscall_tail:
	FINISH
syscall_end:
	CHECK	kind_syscall, syscall_tail, AGENT_COST_SYSCALL_HEAD - AGENT_COST_FETCH
	CHECK	syscall_tail, syscall_end, AGENT_COST_SYSCALL_TAIL

/* 3 + 1 + 3 + 3 + 2 + 1 + 3 = 16 up to the workload, 1 + 6 = 7 after it. */
kind_run:
	ldp	x0, x1, [x19]
	SLOT	0
	SLOT	1
	cmp	x0, #AGENT_WORKLOAD_COUNT
	b.hs	agent_inval
	cbz	x1, agent_inval
	ldr	x9, [x25, x0, lsl #3]
	mov	x0, x1
	blr	x9
run_tail:
	mov	x0, #0
	FINISH
run_end:
	CHECK	kind_run, run_tail, AGENT_COST_RUN_HEAD - AGENT_COST_FETCH
	CHECK	kind_run, run_end, AGENT_COST_RUN - AGENT_COST_FETCH

/*
 * Copy a ring's records to the log. What lies between data_tail and data_head
 * is at most the data area: of a longer distance (an overwriting ring, a
 * scribbled field) the last size bytes. The data area starts one page after
 * the header whatever data_offset says, since a hostile reader may write there.
 * Indices and lengths are cut to multiples of 8, as every record has it.
 *
 * 3 + 11 + 11 + 4 = 29 up to the check of the log's room; 4 + 2 around the
 * loop of 6 a word; 2 for the store of data_tail; 6.
 */
.macro COPY_RING store_tail
	ADDRESS_ARGS
	ldr	x2, [x0, #RING_HEAD]
	dmb	ishld		/* the records were written before data_head */
	ldr	x3, [x0, #RING_TAIL]
	sub	x4, x2, x3
	cmp	x4, x1
	csel	x4, x1, x4, hi
	and	x4, x4, #~7
	sub	x3, x2, x4
	sub	x5, x1, #1
	and	x5, x5, #~7
	add	x6, x0, #PAGE
	add	x7, x22, x4
	add	x7, x7, #8
	cmp	x7, x23
	b.hi	agent_full
	mov	x10, x0
	mov	x0, x4
	str	x4, [x22], #8
	b	2f
1:	and	x7, x3, x5
	ldr	x7, [x6, x7]
	str	x7, [x22], #8
	add	x3, x3, #8
2:	subs	x4, x4, #8
	b.hs	1b
	.if	\store_tail
	dmb	ish		/* the records were read before they are given back */
	str	x2, [x10, #RING_TAIL]
	.endif
	FINISH
.endm

kind_drain:
	COPY_RING 1
drain_end:
kind_peek:
	COPY_RING 0
peek_end:
	CHECK	kind_drain, drain_end, AGENT_COST_DRAIN_BASE - AGENT_COST_FETCH + 4
	CHECK	kind_peek, peek_end, AGENT_COST_PEEK_BASE - AGENT_COST_FETCH + 4

/* 3 + 11 + 2 + 6 = 22 */
kind_poke:
	ADDRESS_ARGS
	str	x1, [x0]
	mov	x0, #0
	FINISH
poke_end:
	CHECK	kind_poke, poke_end, AGENT_COST_POKE - AGENT_COST_FETCH

/* 3 + 11 + 1 + 4 = 19 up to the check of the log's room; 4 + 2 around the loop
 * of 4 a word; 6. */
kind_page:
	ADDRESS_ARGS
	and	x4, x1, #~7
	add	x7, x22, x4
	add	x7, x7, #8
	cmp	x7, x23
	b.hi	agent_full
	mov	x10, x0
	mov	x0, x4
	str	x4, [x22], #8
	b	2f
1:	ldr	x7, [x10], #8
	str	x7, [x22], #8
2:	subs	x4, x4, #8
	b.hs	1b
	FINISH
page_end:
	CHECK	kind_page, page_end, AGENT_COST_PAGE_BASE - AGENT_COST_FETCH + 2

/* 3 + 11 + 3 + 2 + 1 + 6 = 26, and 4 a page. */
kind_touch:
	ADDRESS_ARGS
	add	x1, x1, #PAGE - 1
	lsr	x1, x1, #PAGE_SHIFT
	b	2f
1:	ldr	x7, [x0]
	add	x0, x0, #PAGE
2:	subs	x1, x1, #1
	b.hs	1b
	mov	x0, #0
	FINISH
touch_end:
	CHECK	kind_touch, touch_end, AGENT_COST_TOUCH_BASE - AGENT_COST_FETCH + 2

/* Refusals: 7 each, after what led to them. */
agent_fault:
	mov	x0, #-ERR_FAULT
	FINISH
agent_inval:
	mov	x0, #-ERR_INVAL
	FINISH
agent_full:
	mov	x0, #-ERR_NOSPC
	FINISH

kind_end:
	ret	x26

/* ---- several tasks: everything from here on stands behind what goldens of one
 * task know the addresses of */

/* Registers of a task whose operation x19 is: 4 + 3 + 2. */
.macro TASK_REGISTERS
	ldr	x20, =AGENT_RESULTS
	ldr	x9, =AGENT_BASE + AGENT_HDR_OPS
	sub	x9, x19, x9
	add	x20, x20, x9, lsr #3
	ldr	x21, =AGENT_VALUES
	ldr	x24, =agent_kinds
	ldr	x25, =agent_workloads
	adr	x26, agent_tasks_end
.endm

/* Head: 3 + 6 = 9; tail: 1 + 6 = 7; the child: 1 + 10. */
kind_clone:
	ldp	x0, x1, [x19]
	ldp	x2, x10, [x19, #16]
	ldp	x4, x11, [x19, #32]
	mov	x3, #0
	mov	x8, #__NR_clone
	svc	#0
clone_tail:
	cbz	x0, clone_child
	FINISH
clone_end:
clone_child:
	mov	x19, x10
	ldr	x20, =AGENT_RESULTS
	ldr	x9, =AGENT_BASE + AGENT_HDR_OPS
	sub	x9, x19, x9
	add	x20, x20, x9, lsr #3
	mov	x22, x11
	mov	x9, #AGENT_TASK_LOG
	add	x23, x22, x9
	mov	x26, xzr	/* its last operation leaves it */
	b	agent_next
clone_child_end:
	CHECK	kind_clone, clone_tail, AGENT_COST_CLONE_HEAD - AGENT_COST_FETCH
	CHECK	clone_tail, clone_end, AGENT_COST_CLONE_TAIL
	CHECK	clone_child, clone_child_end, AGENT_COST_CLONE_CHILD - 1

/* Head: 3 + 5 = 8; tail: 6. */
kind_exec:
	ldp	x0, x1, [x19]
	ldp	x2, x10, [x19, #16]
	stp	x22, x23, [x10, #AGENT_RESUME_LOG]
	mov	x8, #__NR_execve
	svc	#0
exec_tail:
	FINISH
exec_end:
	CHECK	kind_exec, exec_tail, AGENT_COST_EXEC_HEAD - AGENT_COST_FETCH
	CHECK	exec_tail, exec_end, AGENT_COST_EXEC_TAIL

/* x10 is the resume block: 2 + 8 + 1 + 6 = 17. */
agent_resumed:
	ldp	x19, x22, [x10]
	ldr	x23, [x10, #AGENT_RESUME_LOG_END]
	TASK_REGISTERS
	mov	x0, #0
	FINISH
resumed_end:
	.set	resumed_cost, (resumed_end - agent_resumed) / 4
	.if	resumed_cost != 17
	.error	"agent-cost.h has another figure"
	.endif

/* 3 + 11 + 3 + 2 + 1 + 6 = 26, and 5 a page. The store fails, changing nothing,
 * when somebody interrupted the pair; the page is writable then as well. */
kind_dirty:
	ADDRESS_ARGS
	add	x1, x1, #PAGE - 1
	lsr	x1, x1, #PAGE_SHIFT
	b	2f
1:	ldxr	x7, [x0]
	stxr	w9, x7, [x0]
	add	x0, x0, #PAGE
2:	subs	x1, x1, #1
	b.hs	1b
	mov	x0, #0
	FINISH
dirty_end:
	CHECK	kind_dirty, dirty_end, AGENT_COST_DIRTY_BASE - AGENT_COST_FETCH + 3

.macro READ_COUNTER n
	mrs	x6, pmevcntr\n\()_el0
	b	rdpmc_tail
.endm

/*
 * What include/uapi/linux/perf_event.h says user space does, without the lock:
 * nobody else changes the page between. index 32 is the cycle counter, n the
 * event counter n - 1. Head: 3 + 11 + 7 and the mrs; tail: 1 + 5 + 6.
 */
kind_rdpmc:
	ADDRESS_ARGS
	ldr	w2, [x0, #PAGE_INDEX]
	ldr	x3, [x0, #PAGE_OFFSET]
	ldrh	w4, [x0, #PAGE_WIDTH]
	cbz	w2, rdpmc_none
	adr	x5, rdpmc_table - 8
	add	x5, x5, x2, lsl #3
	br	x5
rdpmc_table:
	READ_COUNTER 0
	READ_COUNTER 1
	READ_COUNTER 2
	READ_COUNTER 3
	READ_COUNTER 4
	READ_COUNTER 5
	.rept	25	/* no machine of ours has them */
	mov	x6, xzr
	b	rdpmc_tail
	.endr
	mrs	x6, pmccntr_el0
rdpmc_mrs:
	nop
rdpmc_tail:
	mov	x7, #64
	sub	x7, x7, x4
	lsl	x6, x6, x7
	asr	x6, x6, x7
	add	x0, x3, x6
	FINISH
rdpmc_end:
rdpmc_none:
	mov	x0, #-ERR_NOENT
	FINISH
rdpmc_none_end:
	CHECK	kind_rdpmc, rdpmc_table, AGENT_COST_RDPMC_HEAD - 1 - AGENT_COST_FETCH
	CHECK	rdpmc_mrs, rdpmc_end, AGENT_COST_RDPMC_TAIL
	CHECK	rdpmc_none, rdpmc_none_end, AGENT_COST_RDPMC_NONE - 18

/* The first task's start and end; the others are cloned. */
FUNC agent_run_tasks
	ldr	x19, =AGENT_BASE + AGENT_HDR_OPS
	ldr	x22, =AGENT_LOG
	ldr	x23, =AGENT_LOG + AGENT_TASK_LOG
	TASK_REGISTERS
	b	agent_next
agent_tasks_end:
	bl	agent_print_tasks
ENDFUNC agent_run_tasks

	.ltorg
ENDFUNC agent_dispatch

/* ----------------------------------------------------------------- tables */

	.section .rodata, "a", %progbits
	.balign	8
agent_kinds:
	.quad	kind_end, kind_syscall, kind_run, kind_drain
	.quad	kind_peek, kind_poke, kind_page, kind_touch
	.if	(. - agent_kinds) / 8 != AGENT_KIND_HOLE
	.error	"a kind without code"
	.endif
agent_workloads:
	.quad	spin, load, store, branch, mixed, frames
	.if	(. - agent_workloads) / 8 != AGENT_WORKLOAD_COUNT
	.error	"a workload without code"
	.endif
	.if	(. - agent_kinds) / 8 != AGENT_KIND_HOLE_END
	.error	"the kinds go on elsewhere"
	.endif
	.quad	kind_clone, kind_exec, kind_dirty, kind_rdpmc
	.if	(. - agent_kinds) / 8 != AGENT_KINDS
	.error	"a kind without code"
	.endif

	.bss
	.balign	16
agent_values:
	.skip	256 * 8
agent_stack:
	.skip	STACK_SIZE
agent_stack_top:
	.skip	16

	.section .note.GNU-stack, "", %progbits
