/* SPDX-License-Identifier: MIT */
/*
 * What a handler gets on its stack: arm64's struct rt_sigframe with a siginfo, the
 * registers, and records of the rest (Linux arch/arm64/kernel/signal.c).
 */
#include <string.h>

#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/memobj.h"
#include "kernelcore/sys/mm.h"
#include "kernelcore/sys/signal.h"

enum {
	SIGINFO_BYTES = 128,
	UC = SIGINFO_BYTES, /* struct ucontext */
	UC_STACK = UC + 16,
	UC_SIGMASK = UC + 40,
	UC_MCONTEXT = UC + 176,
	MC_REGS = UC_MCONTEXT + 8, /* behind the fault's address */
	MC_RECORDS = UC_MCONTEXT + 288,
	RECORDS_BYTES = 4096,
	FRAME_BYTES = MC_RECORDS + RECORDS_BYTES,
	FPSIMD_BYTES = 528,
	ESR_BYTES = 16,
	LINK_BYTES = 16, /* x29, x30: the frame that the handler's follows */
};

#define FPSIMD_MAGIC UINT32_C(0x46508001)
#define ESR_MAGIC    UINT32_C(0x45535201)
/* Flags that are EL0's to choose: NZCV, DIT, SSBS. */
#define PSTATE_USER (UINT64_C(0xf) << 28 | UINT64_C(1) << 24 | UINT64_C(1) << 12)

struct record {
	uint32_t magic, size;
};

struct fpsimd {
	struct record head;
	uint32_t fpsr, fpcr;
	uint64_t v[64];
};

struct frame_stack {
	uint64_t sp;
	uint32_t flags, pad;
	uint64_t size;
};

int siginfo_to_user(struct ksys *sys, uint64_t uaddr, const struct siginfo *info)
{
	uint8_t raw[SIGINFO_BYTES] = { 0 };
	const int32_t head[3] = { info->signo, 0, info->code };

	memcpy(raw, head, sizeof(head));
	switch (info->kind) {
	case INFO_PROCESS: /* si_pid, si_uid, then si_value or si_status */
		memcpy(raw + 16, &info->pid, 4);
		memcpy(raw + 20, &info->uid, 4);
		memcpy(raw + 24, &info->value, 8);
		break;
	case INFO_FAULT: /* si_addr */
		memcpy(raw + 16, &info->value, 8);
		break;
	case INFO_POLL: /* si_band, si_fd */
		memcpy(raw + 16, &info->value, 8);
		memcpy(raw + 24, &info->pid, 4);
		break;
	}
	return ksys_copy_to_user(sys, uaddr, raw, sizeof(raw));
}

/* Two instructions that Linux has in its vDSO, mapped when they are first needed. */
static int trampoline(struct ksys *sys, struct mm *mm, uint64_t *va)
{
	static const uint32_t code[2] = { 0xd2801168, 0xd4000001 }; /* mov x8, 139; svc 0 */
	struct mapping how = { .prot = AREA_READ | AREA_EXEC };

	*va = SIGRETURN_VA;
	if (mm_area(mm, *va))
		return 0;
	how.obj = memobj_from(sys, code, sizeof(code));
	if (!how.obj)
		return -ENOMEM;
	if (mm_map(sys, mm, *va, PAGE_SIZE, &how)) {
		memobj_put(sys, how.obj);
		return -ENOMEM;
	}
	memobj_put(sys, how.obj);
	return 0;
}

static int put(struct ksys *sys, uint64_t *at, const void *data, size_t n)
{
	int rc = ksys_copy_to_user(sys, *at, data, n);

	*at += n;
	return rc;
}

static int put_records(struct ksys *sys, uint64_t at, const struct hal_context *ctx,
		       const struct sigstate *s)
{
	struct fpsimd fp = {
		.head = { FPSIMD_MAGIC, FPSIMD_BYTES },
		.fpsr = (uint32_t)ctx->fpsr,
		.fpcr = (uint32_t)ctx->fpcr,
	};
	const struct {
		struct record head;
		uint64_t esr;
	} fault = { { ESR_MAGIC, ESR_BYTES }, s->fault_code };
	const struct record end = { 0, 0 };

	memcpy(fp.v, ctx->v, sizeof(fp.v));
	if (put(sys, &at, &fp, sizeof(fp)))
		return -EFAULT;
	if (s->fault_code && put(sys, &at, &fault, sizeof(fault)))
		return -EFAULT;
	return put(sys, &at, &end, sizeof(end));
}

static int put_context(struct ksys *sys, uint64_t frame, const struct hal_context *ctx,
		       const struct sigstate *s, uint64_t mask)
{
	const uint64_t head[2] = { 0, 0 }; /* uc_flags, uc_link */
	const struct frame_stack stack = { s->stack, s->stack_flags, 0, s->stack_size };

	if (ksys_copy_to_user(sys, frame + UC, head, sizeof(head)) ||
	    ksys_copy_to_user(sys, frame + UC_STACK, &stack, sizeof(stack)) ||
	    ksys_copy_to_user(sys, frame + UC_SIGMASK, &mask, sizeof(mask)) ||
	    ksys_copy_to_user(sys, frame + UC_MCONTEXT, &s->fault_address, 8) ||
	    ksys_copy_to_user(sys, frame + MC_REGS, &ctx->regs, sizeof(ctx->regs)))
		return -EFAULT;
	return put_records(sys, frame + MC_RECORDS, ctx, s);
}

int sigframe_push(struct ksys *sys, struct hal_context *ctx, const struct action *action,
		  const struct siginfo *info, uint64_t mask)
{
	struct ksys_task *task = ksys_current(sys);
	struct sigstate *s = &task->sig;
	uint64_t sp = ctx->regs.sp, link, frame, back = action->restorer;
	bool on = s->stack_size && sp > s->stack && sp - s->stack <= s->stack_size;

	if (!(action->flags & SA_RESTORER) && trampoline(sys, task->mm, &back))
		return -EFAULT;
	if (action->flags & SA_ONSTACK && s->stack_size && !on)
		sp = s->stack + s->stack_size;
	link = (sp - LINK_BYTES) & ~UINT64_C(15);
	frame = link - FRAME_BYTES;
	if (put_context(sys, frame, ctx, s, mask) ||
	    ksys_copy_to_user(sys, link, &ctx->regs.x[29], LINK_BYTES))
		return -EFAULT;
	if (action->flags & SA_SIGINFO) {
		if (siginfo_to_user(sys, frame, info))
			return -EFAULT;
		ctx->regs.x[1] = frame;
		ctx->regs.x[2] = frame + UC;
	}
	ctx->regs.x[0] = (uint64_t)info->signo;
	ctx->regs.sp = frame;
	ctx->regs.x[29] = link;
	ctx->regs.x[30] = back;
	ctx->regs.pc = action->handler;
	return 0;
}

/* The fpsimd record is needed, the fault's is skipped, others are nobody's. */
static int get_records(struct ksys *sys, uint64_t at, struct hal_context *ctx)
{
	uint64_t end = at + RECORDS_BYTES;
	struct fpsimd fp;
	bool found = false;

	while (at + sizeof(fp.head) <= end) {
		if (ksys_copy_from_user(sys, &fp.head, at, sizeof(fp.head)))
			return -EFAULT;
		if (!fp.head.magic && !fp.head.size)
			return found ? 0 : -EFAULT;
		if (fp.head.size < sizeof(fp.head) || fp.head.size & 15 ||
		    fp.head.size > end - at)
			return -EFAULT;
		if (fp.head.magic == FPSIMD_MAGIC) {
			if (found || fp.head.size != sizeof(fp) ||
			    ksys_copy_from_user(sys, &fp, at, sizeof(fp)))
				return -EFAULT;
			ctx->fpsr = fp.fpsr;
			ctx->fpcr = fp.fpcr;
			memcpy(ctx->v, fp.v, sizeof(fp.v));
			found = true;
		} else if (fp.head.magic != ESR_MAGIC) {
			return -EFAULT;
		}
		at += fp.head.size;
	}
	return -EFAULT;
}

int sigframe_pop(struct ksys *sys, struct hal_context *ctx, uint64_t *mask)
{
	uint64_t frame = ctx->regs.sp;
	struct hal_regs regs;

	if (frame & 15 || ksys_copy_from_user(sys, mask, frame + UC_SIGMASK, sizeof(*mask)) ||
	    ksys_copy_from_user(sys, &regs, frame + MC_REGS, sizeof(regs)))
		return -EFAULT;
	if (regs.pstate & 0x1f) /* not EL0's (Linux valid_user_regs()) */
		return -EFAULT;
	regs.pstate &= PSTATE_USER;
	ctx->regs = regs;
	return get_records(sys, frame + MC_RECORDS, ctx);
}
