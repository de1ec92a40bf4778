/* SPDX-License-Identifier: MIT */
#include "conformance/bare-machine.h"

#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernelcore/sys/internal.h"

struct kperf {
	struct bare_machine *bm;
};

enum { ESR_SVC64 = 0x15u << 26, NS_A_CLOCK_READ = 16 };

__attribute__((format(printf, 2, 3))) static void note(struct bare_machine *bm,
							const char *fmt, ...)
{
	size_t used = strlen(bm->diary);
	va_list ap;

	if (used)
		bm->diary[used++] = ' ';
	va_start(ap, fmt);
	vsnprintf(bm->diary + used, sizeof(bm->diary) - used, fmt, ap);
	va_end(ap);
}

/* --- the machine ------------------------------------------------------------ */

/* The one interrupt is the timer's, and one count is a nanosecond. */
uint64_t hal_sysreg_read(struct hal *hal, uint32_t reg)
{
	if (reg == HAL_ICC_IAR1_EL1)
		return HAL_IRQ_TIMER;
	return reg == HAL_CNTFRQ_EL0 ? 1000000000 : 0;
}

void hal_sysreg_write(struct hal *hal, uint32_t reg, uint64_t value)
{
	if (reg == HAL_TTBR0_EL1) {
		hal->bm->ttbr_writes++;
		hal->bm->ttbr0 = value & UINT64_C(0xfffffffff000);
	}
	if (reg == HAL_CNTV_CVAL_EL0)
		hal->bm->timer = value;
	if (reg == HAL_CNTV_CTL_EL0)
		hal->bm->timer_on = value;
}

uint64_t hal_tcr_upper(struct hal *hal)
{
	return 0;
}

void hal_isb(struct hal *hal)
{
}

unsigned long hal_irq_save(struct hal *hal)
{
	bool masked = hal->masked;

	hal->masked = true;
	return masked;
}

void hal_irq_restore(struct hal *hal, unsigned long flags)
{
	hal->masked = flags;
}

void hal_irq_enable(struct hal *hal)
{
	hal->masked = false;
}

void hal_irq_disable(struct hal *hal)
{
	hal->masked = true;
}

uint64_t hal_clock_ns(struct hal *hal)
{
	return hal->bm->clock_ns += NS_A_CLOCK_READ;
}

void hal_copy(struct hal *hal, void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
}

uint32_t hal_mmio_read32(struct hal *hal, uint64_t pa)
{
	return 0;
}

void hal_mmio_write32(struct hal *hal, uint64_t pa, uint32_t value)
{
}

uint64_t hal_ram_base(struct hal *hal)
{
	return BM_RAM_BASE;
}

uint64_t hal_ram_size(struct hal *hal)
{
	return BM_RAM_SIZE;
}

void *hal_phys_to_virt(struct hal *hal, uint64_t pa)
{
	ck_assert_uint_ge(pa, BM_RAM_BASE);
	ck_assert_uint_lt(pa, BM_RAM_BASE + BM_RAM_SIZE);
	return hal->bm->ram + (pa - BM_RAM_BASE);
}

uint64_t hal_virt_to_phys(struct hal *hal, const void *va)
{
	return BM_RAM_BASE + (uint64_t)((const uint8_t *)va - hal->bm->ram);
}

unsigned hal_cpu_id(struct hal *hal)
{
	return hal->cpu;
}

void hal_sync_icache(struct hal *hal, uint64_t pa, size_t n)
{
}

void hal_console_write(struct hal *hal, const void *buf, size_t n)
{
	struct bare_machine *bm = hal->bm;

	ck_assert_uint_le(bm->noutput + n, sizeof(bm->output));
	memcpy(bm->output + bm->noutput, buf, n);
	bm->noutput += n;
}

int hal_irq_wired(struct hal *hal, unsigned intid)
{
	return 1;
}

uint64_t hal_gicr_sgi(struct hal *hal)
{
	return 0;
}

long hal_lab_call(struct hal *hal, enum hal_lab call, const uint64_t args[6])
{
	return -ENOSYS;
}

void hal_user_regs(struct hal *hal, struct hal_regs *regs)
{
	*regs = hal->bm->user.regs;
}

struct hal *hal_this_cpu(struct hal *any)
{
	return any;
}

unsigned hal_ncpus(struct hal *any)
{
	return 1;
}

struct hal *hal_cpu(struct hal *any, unsigned n)
{
	return any;
}

void hal_context_save(struct hal *hal, struct hal_context *ctx)
{
	ck_assert(hal->masked);
	*ctx = hal->bm->user;
}

void hal_context_load(struct hal *hal, const struct hal_context *ctx)
{
	ck_assert(hal->masked);
	hal->bm->user = *ctx;
}

void hal_user_set_x0(struct hal *hal, uint64_t value)
{
	hal->bm->user.regs.x[0] = value;
}

void hal_cpu_call(struct hal *hal, struct hal *cpu, void (*fn)(void *arg), void *arg)
{
	unsigned long flags = hal_irq_save(hal);

	fn(arg);
	hal_irq_restore(hal, flags);
}

void hal_cpu_kick(struct hal *hal, struct hal *cpu)
{
}

/* --- the perf core ---------------------------------------------------------- */

int kperf_create(struct ksys *sys, const char *profile, struct kperf **out)
{
	*out = ksys_alloc(sys, sizeof(**out));
	(*out)->bm = ksys_hal(sys)->bm;
	return 0;
}

void kperf_destroy(struct kperf *perf)
{
}

int kperf_cpu_online(struct kperf *perf, struct hal *hal)
{
	return 0;
}

long kperf_open(struct kperf *perf, uint64_t uattr, int32_t pid, int32_t cpu,
		int32_t group_fd, uint64_t flags)
{
	struct bare_machine *bm = perf->bm;
	struct kperf_event *event;
	int fd = ksys_fd_reserve(bm->sys, flags & 8);

	if (fd < 0)
		return fd;
	if (uattr) { /* found to be bad after the number was taken */
		ksys_fd_cancel(bm->sys, fd);
		return -EINVAL;
	}
	event = calloc(1, sizeof(*event));
	event->bm = bm;
	bm->event[bm->events] = event;
	event->id = ++bm->events;
	note(bm, "open%d", event->id);
	ksys_fd_install(bm->sys, fd, event);
	return fd;
}

long kperf_read(struct kperf_event *event, uint64_t ubuf, uint64_t count)
{
	return event->id;
}

long kperf_ioctl(struct kperf_event *event, uint32_t cmd, uint64_t arg)
{
	return 100 + event->id;
}

unsigned kperf_poll(struct kperf_event *event)
{
	return 0;
}

long kperf_mmap(struct kperf_event *event, uint64_t size, uint64_t pgoff, unsigned prot,
		unsigned flags, void *const **pages, size_t *npages)
{
	*npages = size / KSYS_PAGE_SIZE;
	if (*npages > BM_RING_PAGES)
		return -EINVAL;
	for (size_t i = 0; i < *npages; i++)
		if (!event->page[i])
			event->page[i] = ksys_page_alloc(event->bm->sys);
	event->mapped++;
	*pages = event->page;
	note(event->bm, "mmap%d", event->id);
	return 0;
}

void kperf_munmap(struct kperf_event *event)
{
	ck_assert_uint_eq(event->released, 0);
	ck_assert_uint_gt(event->mapped, 0);
	note(event->bm, "munmap%d", event->id);
	if (--event->mapped)
		return;
	for (size_t i = 0; i < BM_RING_PAGES; i++)
		if (event->page[i])
			ksys_page_free(event->bm->sys, event->page[i]);
	memset(event->page, 0, sizeof(event->page));
}

void kperf_release(struct kperf_event *event)
{
	ck_assert_uint_eq(event->released, 0);
	event->released = 1;
	note(event->bm, "release%d", event->id);
}

bool kperf_irq(struct kperf *perf, struct hal *hal, const struct hal_regs *regs)
{
	return false;
}

void kperf_sched_in(struct kperf *perf, struct hal *hal, struct ksys_task *task)
{
}

void kperf_sched_out(struct kperf *perf, struct hal *hal, struct ksys_task *task)
{
}

void kperf_task_exit(struct kperf *perf, struct ksys_task *task)
{
	note(perf->bm, "exit");
}

void kperf_task_free(struct kperf *perf, struct ksys_task *task)
{
	note(perf->bm, "free");
}

int kperf_fork(struct kperf *perf, struct ksys_task *parent, struct ksys_task *child,
	       uint64_t flags)
{
	note(perf->bm, "fork");
	return 0;
}

void kperf_exec(struct kperf *perf, struct ksys_task *task)
{
	note(perf->bm, "exec");
}

void kperf_tick(struct kperf *perf, struct hal *hal, const struct hal_regs *regs)
{
}

void kperf_sw_event(struct kperf *perf, struct hal *hal, enum kperf_sw sw, uint64_t nr,
		    const struct hal_regs *regs, uint64_t addr)
{
	perf->bm->sw[sw] += nr;
	perf->bm->sw_user[sw] += regs && hal_regs_user(regs) ? nr : 0;
	perf->bm->sw_addr = addr;
}

/* A program whose first event is still open holds the depth of stacks. */
int kperf_sysctl_check(struct kperf *perf, enum ksys_sysctl name)
{
	struct bare_machine *bm = perf->bm;

	return name == KSYS_SYSCTL_MAX_STACK && bm->events && !bm->event[0]->released ? -EBUSY :
											 0;
}

void kperf_sysctl_changed(struct kperf *perf, enum ksys_sysctl name)
{
	note(perf->bm, "sysctl%d", (int)name);
}

long kperf_prctl(struct kperf *perf, bool enable)
{
	note(perf->bm, enable ? "enable" : "disable");
	return 0;
}

int kperf_event_counter(const struct kperf_event *event)
{
	return -ENOENT;
}

/* --- the program ------------------------------------------------------------ */

enum { ELF_BYTES = 0x2000, ELF_PHDR = 64, ELF_PHDR_BYTES = 56 };

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put64(uint8_t *p, uint64_t v)
{
	for (unsigned i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static void segment(uint8_t *p, unsigned flags, uint64_t offset, uint64_t va, uint64_t filesz,
		    uint64_t memsz)
{
	p[0] = 1; /* PT_LOAD */
	p[4] = (uint8_t)flags;
	put64(p + 8, offset);
	put64(p + 16, va);
	put64(p + 32, filesz);
	put64(p + 40, memsz);
	put64(p + 48, KSYS_PAGE_SIZE);
}

static void build_elf(uint8_t *elf)
{
	static const uint8_t ident[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };

	memset(elf, 0, ELF_BYTES);
	memcpy(elf, ident, sizeof(ident));
	put16(elf + 16, 2);   /* ET_EXEC */
	put16(elf + 18, 183); /* AArch64 */
	put64(elf + 24, BM_CODE + 0x100);
	put64(elf + 32, ELF_PHDR);
	put16(elf + 54, ELF_PHDR_BYTES);
	put16(elf + 56, 2);
	segment(elf + ELF_PHDR, 5, 0, BM_CODE, 0x1000, 0x1000);
	segment(elf + ELF_PHDR + ELF_PHDR_BYTES, 6, 0x1000, BM_DATA, 0x1000, 0x2000);
	memset(elf + 0x1000, 0xda, 0x1000);
}

struct bare_machine *bm_create(void)
{
	static uint8_t elf[ELF_BYTES];
	struct bare_machine *bm = calloc(1, sizeof(*bm));
	struct kentry_start start;

	ck_assert_ptr_nonnull(bm);
	bm->ram = aligned_alloc(KSYS_PAGE_SIZE, BM_RAM_SIZE);
	ck_assert_ptr_nonnull(bm->ram);
	memset(bm->ram, 0, BM_RAM_SIZE);
	bm->hal.bm = bm;
	bm->hal.masked = true;
	ck_assert_int_eq(kentry_boot(&bm->hal, "linux-6.1", &bm->sys), 0);
	build_elf(elf);
	ck_assert_int_eq(kentry_exec(bm->sys, elf, sizeof(elf), "input", 5, &start), 0);
	ck_assert_uint_eq(start.pc, BM_CODE + 0x100);
	bm->user.regs.pc = start.pc;
	bm->user.regs.sp = start.sp;
	return bm;
}

void bm_destroy(struct bare_machine *bm)
{
	kentry_shutdown(bm->sys);
	for (int i = 0; i < bm->events; i++)
		free(bm->event[i]);
	free(bm->ram);
	free(bm);
}

/* Where the kernel idles, time goes on to the timer's interrupt. */
static void enter(struct bare_machine *bm, uint64_t esr, uint64_t far)
{
	static const struct hal_regs idle = { .pstate = 5 };
	enum kentry_next next;

	bm->hal.masked = true;
	next = kentry_sync(bm->sys, &bm->hal, &bm->user.regs, esr, far);
	while (next == KENTRY_IDLE && !kentry_status(bm->sys).exited) {
		ck_assert(bm->timer_on);
		bm->waits++;
		if (bm->clock_ns < bm->timer)
			bm->clock_ns = bm->timer;
		next = kentry_irq(bm->sys, &bm->hal, &idle);
	}
	ck_assert(bm->hal.masked);
}

long bm_call(struct bare_machine *bm, uint64_t nr, uint64_t a, uint64_t b, uint64_t c,
	     uint64_t d, uint64_t e, uint64_t f)
{
	const uint64_t args[6] = { a, b, c, d, e, f };

	memcpy(bm->user.regs.x, args, sizeof(args));
	bm->user.regs.x[8] = nr;
	enter(bm, ESR_SVC64, 0);
	return (long)bm->user.regs.x[0];
}

enum {
	DESC_TABLE = 3, /* of any level, and a page */
	DESC_USER = 1 << 6,
	DESC_READ_ONLY = 1 << 7,
	DESC_ACCESSED = 1 << 10,
	ESR_IABORT = 0x20u << 26,
	ESR_DABORT = 0x24u << 26,
	ESR_WNR = 1 << 6,
	FSC_TRANSLATION_3 = 7,
	FSC_ACCESS_3 = 0xb,
	FSC_PERMISSION_3 = 0xf,
};

/* 39 bits in three levels of 512 (Arm ARM D8.2); 0: a translation fault. */
static uint64_t descriptor(struct bare_machine *bm, uint64_t va)
{
	uint64_t table = bm->ttbr0, desc = 0;

	for (int shift = 30; shift >= 12; shift -= 9) {
		const uint8_t *entry = hal_phys_to_virt(&bm->hal, table);

		memcpy(&desc, entry + (va >> shift & 511) * 8, sizeof(desc));
		if ((desc & DESC_TABLE) != DESC_TABLE)
			return 0;
		table = desc & UINT64_C(0xfffffffff000);
	}
	return desc;
}

static bool permitted(uint64_t desc, enum bm_access access)
{
	switch (access) {
	case BM_READS:
		return desc & DESC_USER;
	case BM_WRITES:
		return (desc & (DESC_USER | DESC_READ_ONLY)) == DESC_USER;
	case BM_EXECUTES:
		return !(desc >> 54 & 1);
	}
	return false;
}

/* The flag is looked at before the rights (Arm ARM D8.14). */
static unsigned fault_of(uint64_t desc)
{
	if (!desc)
		return FSC_TRANSLATION_3;
	return desc & DESC_ACCESSED ? FSC_PERMISSION_3 : FSC_ACCESS_3;
}

int bm_touch(struct bare_machine *bm, uint64_t va, enum bm_access access)
{
	for (int faults = 0; faults < 4; faults++) {
		uint64_t desc = descriptor(bm, va);
		uint64_t esr = access == BM_EXECUTES ? ESR_IABORT : ESR_DABORT;

		if (desc & DESC_ACCESSED && permitted(desc, access))
			return faults;
		esr |= access == BM_WRITES ? ESR_WNR : 0;
		enter(bm, esr | fault_of(desc), va);
		if (kentry_status(bm->sys).exited)
			return -1;
	}
	ck_abort_msg("touching %llx faults for ever", (unsigned long long)va);
	return -1;
}

uint8_t *bm_byte(struct bare_machine *bm, uint64_t va)
{
	uint64_t desc = descriptor(bm, va);
	uint8_t *page;

	if (!desc)
		return NULL;
	page = hal_phys_to_virt(&bm->hal, desc & UINT64_C(0xfffffffff000));
	return page + (va & (KSYS_PAGE_SIZE - 1));
}

uint64_t bm_pages(struct bare_machine *bm)
{
	return page_pool_used(&bm->sys->pool);
}

struct bm_faults bm_faults(struct bare_machine *bm)
{
	const struct bm_faults faults = {
		.all = bm->sw[KPERF_SW_PAGE_FAULTS],
		.min = bm->sw[KPERF_SW_PAGE_FAULTS_MIN],
		.user = bm->sw_user[KPERF_SW_PAGE_FAULTS],
	};

	memset(bm->sw, 0, sizeof(bm->sw));
	memset(bm->sw_user, 0, sizeof(bm->sw_user));
	return faults;
}

void bm_fault(struct bare_machine *bm, uint64_t esr, uint64_t far)
{
	enter(bm, esr, far);
}

void bm_poke(struct bare_machine *bm, uint64_t va, const void *data, size_t n)
{
	ck_assert_int_eq(ksys_copy_to_user(bm->sys, va, data, n), 0);
}

void bm_peek(struct bare_machine *bm, uint64_t va, void *data, size_t n)
{
	ck_assert_int_eq(ksys_copy_from_user(bm->sys, data, va, n), 0);
}

int bm_event(struct bare_machine *bm)
{
	long fd = bm_sys(bm, BM_PERF_EVENT_OPEN, 0, 0, -1, -1, 0);

	ck_assert_int_ge(fd, 0);
	return (int)fd;
}

const char *bm_diary(struct bare_machine *bm)
{
	static char copy[BM_DIARY];

	memcpy(copy, bm->diary, sizeof(copy));
	bm->diary[0] = '\0';
	return copy;
}
