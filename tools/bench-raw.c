/* SPDX-License-Identifier: MIT */
#include "tools/bench-raw.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unicorn/unicorn.h>
#include <unistd.h>

#include "corpus/agent/agent-abi.h"

enum {
	PAGE = 4096,
	RETURN_TO = 0x00700000 /* in no segment of the agent */
};

static const uint32_t svc_0 = 0xd4000001;

double bench_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void bench_raw_version(char *text, size_t size)
{
	unsigned v = uc_version(NULL, NULL);

	snprintf(text, size, "%u.%u.%u", v >> 24 & 255, v >> 16 & 255, v >> 8 & 255);
}

static bool map_zero(uc_engine *uc, uint64_t from, uint64_t to)
{
	from &= ~(uint64_t)(PAGE - 1);
	to = (to + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	return !uc_mem_map(uc, from, to - from, UC_PROT_ALL);
}

static bool load_segments(uc_engine *uc, Elf *elf)
{
	size_t n, size;
	const char *file = elf_rawfile(elf, &size);

	if (!file || elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph))
			return false;
		if (ph.p_type != PT_LOAD || !ph.p_memsz)
			continue;
		if (ph.p_offset > size || ph.p_filesz > size - ph.p_offset ||
		    !map_zero(uc, ph.p_vaddr, ph.p_vaddr + ph.p_memsz) ||
		    uc_mem_write(uc, ph.p_vaddr, file + ph.p_offset, ph.p_filesz))
			return false;
	}
	return true;
}

/* Address of the function @name; 0: not there. */
static uint64_t find_symbol(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr sh;
		GElf_Sym sym;

		if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_SYMTAB || !data)
			continue;
		for (int i = 0; gelf_getsym(data, i, &sym); i++) {
			const char *is = elf_strptr(elf, sh.sh_link, sym.st_name);

			if (is && !strcmp(is, name) &&
			    GELF_ST_TYPE(sym.st_info) == STT_FUNC)
				return sym.st_value;
		}
	}
	return 0;
}

static void on_hook(uc_engine *uc, uint64_t address, uint32_t size, void *opaque)
{
	(void)uc;
	(void)address;
	(void)size;
	(void)opaque;
}

static void on_intr(uc_engine *uc, uint32_t intno, void *opaque)
{
	(void)intno;
	(void)opaque;
	uc_emu_stop(uc);
}

/* The workload is called by its symbol and returns to an SVC, which stops. */
static uc_err prepare(uc_engine *uc, uint64_t n, enum bench_raw_hook hook)
{
	const uint64_t link = RETURN_TO;
	const uint32_t pstate = 0;
	uc_hook intr, empty;
	uc_err e = UC_ERR_OK;

	if (!map_zero(uc, RETURN_TO, RETURN_TO + PAGE) ||
	    !map_zero(uc, AGENT_SCRATCH, AGENT_SCRATCH + AGENT_SCRATCH_SIZE))
		return UC_ERR_MAP;
	e = uc_mem_write(uc, RETURN_TO, &svc_0, sizeof(svc_0));
	if (!e)
		e = uc_reg_write(uc, UC_ARM64_REG_X0, &n);
	if (!e)
		e = uc_reg_write(uc, UC_ARM64_REG_X30, &link);
	if (!e)
		e = uc_reg_write(uc, UC_ARM64_REG_PSTATE, &pstate);
	if (!e)
		e = uc_hook_add(uc, &intr, UC_HOOK_INTR, (void *)on_intr, NULL, 1, 0);
	if (!e && hook != BENCH_RAW_NONE)
		e = uc_hook_add(uc, &empty,
				hook == BENCH_RAW_CODE ? UC_HOOK_CODE : UC_HOOK_BLOCK,
				(void *)on_hook, NULL, 1, 0);
	return e;
}

static int run(uc_engine *uc, uint64_t entry, double *seconds, char *err, size_t errsize)
{
	uint64_t pc = 0, left = 1;
	double begin = bench_clock();
	uc_err e = uc_emu_start(uc, entry, 0, 0, 0);

	*seconds = bench_clock() - begin;
	uc_reg_read(uc, UC_ARM64_REG_PC, &pc);
	uc_reg_read(uc, UC_ARM64_REG_X0, &left);
	/* The PC stands behind the SVC, and each workload counts x0 down. */
	if (!e && pc == RETURN_TO + 4 && !left)
		return 0;
	snprintf(err, errsize, "bare Unicorn stopped at pc 0x%llx with x0 = %llu: %s",
		 (unsigned long long)pc, (unsigned long long)left, uc_strerror(e));
	return -1;
}

static int run_elf(uc_engine *uc, Elf *elf, const char *agent, const char *workload,
		   uint64_t n, enum bench_raw_hook hook, double *seconds, char *err,
		   size_t errsize)
{
	uint64_t entry = find_symbol(elf, workload);
	uc_err e;

	if (!entry) {
		snprintf(err, errsize, "%s: no function %s", agent, workload);
		return -1;
	}
	if (!load_segments(uc, elf)) {
		snprintf(err, errsize, "%s: cannot be loaded", agent);
		return -1;
	}
	e = prepare(uc, n, hook);
	if (e) {
		snprintf(err, errsize, "Unicorn: %s", uc_strerror(e));
		return -1;
	}
	return run(uc, entry, seconds, err, errsize);
}

int bench_raw(const char *agent, const char *workload, uint64_t n,
	      enum bench_raw_hook hook, double *seconds, char *err, size_t errsize)
{
	int fd = open(agent, O_RDONLY | O_CLOEXEC);
	uc_engine *uc = NULL;
	Elf *elf = NULL;
	int rc = -1;

	if (fd < 0) {
		snprintf(err, errsize, "%s: cannot be read", agent);
		return -1;
	}
	if (elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		snprintf(err, errsize, "%s: not an ELF file", agent);
	else if (uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &uc) ||
		 uc_ctl_set_cpu_model(uc, UC_CPU_ARM64_A57))
		snprintf(err, errsize, "Unicorn does not start");
	else
		rc = run_elf(uc, elf, agent, workload, n, hook, seconds, err, errsize);
	if (uc)
		uc_close(uc);
	if (elf)
		elf_end(elf);
	close(fd);
	return rc;
}
