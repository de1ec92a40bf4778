/* SPDX-License-Identifier: MIT */
/* perf_event_open: the attribute's copy, its validation, rights and targets. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/fake-kernel.h"

static struct fake_kernel *fk;
static struct perf_event_attr attr;
static int profile; /* 0: linux-6.1, 1: linux-6.12; the loop of each test */

static void boot(bool irq)
{
	static const char *const names[] = {"linux-6.1", "linux-6.12"};

	fk = fk_create(names[profile], 6, irq);
	attr = fk_attr(PERF_COUNT_HW_CPU_CYCLES, 0);
}

static void begin(int i)
{
	profile = i;
	boot(true);
}

static void end(void)
{
	fk_destroy(fk);
}

/* Open for self on any CPU; what opens is closed again. */
static long try_attr(void)
{
	long fd = fk_open(fk, &attr, -1);

	if (fd < 0)
		return fd;
	fk_close(fk, fd);
	return 0;
}

static long try_args(int32_t pid, int32_t cpu, int32_t group_fd, uint64_t flags)
{
	long fd = fk_open_args(fk, &attr, pid, cpu, group_fd, flags);

	if (fd < 0)
		return fd;
	fk_close(fk, fd);
	return 0;
}

/* The attribute as @size bytes with the byte at @set (0: none) not zero. */
static long try_size(uint32_t size, unsigned set)
{
	memset(fk->user, 0, 8192);
	memcpy(fk->user, &attr, 64);
	memcpy(fk->user + 4, &size, sizeof(size));
	if (set)
		fk->user[set] = 1;

	long fd = kperf_open(fk->perf, FK_USER_BASE, 0, -1, -1, 0);

	if (fd < 0)
		return fd;
	fk_close(fk, fd);
	return 0;
}

static uint32_t stored_size(void)
{
	uint32_t size;

	memcpy(&size, fk->user + 4, sizeof(size));
	return size;
}

START_TEST(attr_size_versions_are_accepted)
{
	static const uint32_t sizes[] = {64,  65,  71,	72,  80,  96,
					 104, 112, 120, 127, 128, 4096};

	begin(_i);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert_int_eq(try_size(sizes[i], 0), 0);
		ck_assert_uint_eq(stored_size(), sizes[i]);
	}
	ck_assert_int_eq(try_size(0, 0), 0);
	ck_assert_uint_eq(stored_size(), 0);
	end();
}
END_TEST

START_TEST(attr_size_out_of_range_stores_the_kernels)
{
	static const uint32_t sizes[] = {1, 63, 4097, UINT32_MAX};
	uint32_t known = _i ? 136 : 128;

	begin(_i);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert_int_eq(try_size(sizes[i], 0), -E2BIG);
		ck_assert_uint_eq(stored_size(), known);
	}
	end();
}
END_TEST

START_TEST(attr_size_tail_must_be_zero)
{
	uint32_t known = _i ? 136 : 128;

	begin(_i);
	ck_assert_int_eq(try_size(known + 8, known), -E2BIG);
	ck_assert_uint_eq(stored_size(), known);
	ck_assert_int_eq(try_size(4096, 4095), -E2BIG);
	ck_assert_int_eq(try_size(4096, 0), 0);
	/* bytes past a short size are not looked at */
	ck_assert_int_eq(try_size(64, 110), 0);
	/* config3 */
	ck_assert_int_eq(try_size(136, 128), _i ? 0 : -E2BIG);
	end();
}
END_TEST

START_TEST(attr_pointer_faults)
{
	begin(_i);
	ck_assert_int_eq(kperf_open(fk->perf, 0, 0, -1, -1, 0), -EFAULT);
	ck_assert_int_eq(kperf_open(fk->perf, UINT64_MAX - 8, 0, -1, -1, 0), -EFAULT);
	/* the size is there, the rest is not */
	uint64_t end_of_memory = fk->user_limit;
	uint32_t size = 64;
	memcpy(fk->user + FK_USER_SIZE - 60, &size, sizeof(size));
	long fd = kperf_open(fk->perf, end_of_memory - 64, 0, -1, -1, 0);
	ck_assert_int_ge(fd, 0);
	fk_close(fk, fd);
	memcpy(fk->user + FK_USER_SIZE - 52, &size, sizeof(size));
	ck_assert_int_eq(kperf_open(fk->perf, end_of_memory - 56, 0, -1, -1, 0), -EFAULT);
	/* unknown flags are looked at before the pointer */
	ck_assert_int_eq(kperf_open(fk->perf, 0, 0, -1, -1, 16), -EINVAL);
	ck_assert_int_eq(kperf_open(fk->perf, 0, 0, -1, -1, UINT64_C(1) << 32), -EINVAL);
	end();
}
END_TEST

/* One fault each, from a good attribute: NAME = VALUE. */
#define ROW(field, value, e61, e612)                                                  \
	do {                                                                          \
		attr = fk_attr(PERF_COUNT_HW_CPU_CYCLES, 0);                          \
		attr.field = (value);                                                 \
		ck_assert_msg(try_attr() == (_i ? (e612) : (e61)), "%s = %#llx: %ld", \
			      #field, (unsigned long long)(value), try_attr());       \
	} while (0)

START_TEST(attr_fields_are_validated)
{
	begin(_i);
	for (unsigned bit = 38; bit < 64; bit++) {
		uint64_t flags;

		attr = fk_attr(PERF_COUNT_HW_CPU_CYCLES, 0);
		memcpy(&flags, (char *)&attr + 40, sizeof(flags));
		flags |= UINT64_C(1) << bit;
		memcpy((char *)&attr + 40, &flags, sizeof(flags));
		ck_assert_int_eq(try_attr(), -EINVAL);
	}
	for (unsigned bit = 25; bit < 64; bit++)
		ROW(sample_type, UINT64_C(1) << bit, -EINVAL, -EINVAL);
	for (unsigned bit = 5; bit < 64; bit++)
		ROW(read_format, UINT64_C(1) << bit, -EINVAL, -EINVAL);
	for (unsigned format = 0; format < 32; format++)
		ROW(read_format, format, 0, 0);
	ROW(__reserved_2, 1, -EINVAL, -EINVAL);
	ROW(sample_period, UINT64_C(1) << 63, -EINVAL, -EINVAL);
	ROW(sample_period, (UINT64_C(1) << 63) - 1, 0, 0);
	ROW(inherit_thread, 1, -EINVAL, -EINVAL);
	ROW(sigtrap, 1, -EINVAL, -EINVAL);
	ROW(exclude_idle, 1, -EOPNOTSUPP, -EOPNOTSUPP);
	ROW(aux_output, 1, -EOPNOTSUPP, -EOPNOTSUPP);
	ROW(aux_sample_size, 8, -EINVAL, -EINVAL);
	ROW(precise_ip, 3, 0, 0);
	ROW(exclude_user, 1, 0, 0);
	ROW(write_backward, 1, 0, 0);
	ROW(pinned, 1, 0, 0);
	ROW(exclusive, 1, 0, 0);
	ROW(inherit, 1, 0, 0);
	ROW(config2, UINT64_MAX, 0, 0);
	ROW(config1, 4, 0, 0);
	ROW(config1, 0x20, 0, -EINVAL);
	ROW(config1, 0x10000, 0, -EINVAL);
	ROW(config1, 0x20000, 0, 0);
	end();
}
END_TEST

START_TEST(attr_aux_action_word)
{
	begin(_i);
	for (uint32_t word = 1; word < 16; word++) {
		long want = -EINVAL; /* not known, or without an AUX leader */

		if (_i && word < 8 && (word & 6) != 6 && word & 1)
			want = -EOPNOTSUPP;
		attr = fk_attr(PERF_COUNT_HW_CPU_CYCLES, 0);
		memcpy((char *)&attr + 116, &word, sizeof(word));
		ck_assert_int_eq(try_attr(), want);
	}
	end();
}
END_TEST

START_TEST(attr_pairs_are_validated)
{
	begin(_i);
	attr.use_clockid = 1;
	for (int clock = -1; clock < 16; clock++) {
		attr.clockid = clock;
		ck_assert_int_eq(try_attr(), clock == 1 || clock == 4 ? 0 : -EINVAL);
	}
	attr = fk_attr(0, 0);
	attr.remove_on_exec = attr.enable_on_exec = 1;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr = fk_attr(0, 1000);
	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_READ;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	ck_assert_int_eq(try_attr(), _i ? 0 : -EINVAL); /* known on 6.12 */
	attr = fk_attr(0, 1000);
	attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr = fk_attr(0, 1000);
	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 12;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr.sample_stack_user = 65536;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr = fk_attr(0, 1000);
	attr.sample_type = PERF_SAMPLE_REGS_USER;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr.sample_regs_user = UINT64_C(1) << 33;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr = fk_attr(0, 1000);
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr = fk_attr(0, 1000);
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	ck_assert_int_eq(try_attr(), -EOPNOTSUPP);
	attr.branch_sample_type = 0x80000;
	ck_assert_int_eq(try_attr(), _i ? -EOPNOTSUPP : -EINVAL);
	end();
}
END_TEST

START_TEST(attr_frequency_at_most_the_sysctl)
{
	begin(_i);
	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = 100000;
	attr.freq = 1;
	ck_assert_int_eq(try_attr(), 0); /* sample_freq 0 counts */
	attr.sample_freq = 100001;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr.sample_freq = 100000;
	ck_assert_int_eq(try_attr(), 0);
	end();
}
END_TEST

START_TEST(attr_sample_fields_that_need_nothing_else)
{
	static const uint64_t types[] = {PERF_SAMPLE_READ,
					 PERF_SAMPLE_CALLCHAIN,
					 PERF_SAMPLE_RAW,
					 PERF_SAMPLE_WEIGHT,
					 PERF_SAMPLE_DATA_SRC,
					 PERF_SAMPLE_TRANSACTION,
					 PERF_SAMPLE_PHYS_ADDR,
					 PERF_SAMPLE_AUX,
					 PERF_SAMPLE_CGROUP,
					 PERF_SAMPLE_DATA_PAGE_SIZE,
					 PERF_SAMPLE_CODE_PAGE_SIZE,
					 PERF_SAMPLE_WEIGHT_STRUCT};

	begin(_i);
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		ROW(sample_type, types[i], 0, 0);
	end();
}
END_TEST

/* Named gaps: valid in Linux, refused here. This list shrinks. */
START_TEST(attr_not_built_is_eopnotsupp)
{
	begin(_i);
	ROW(mmap, 1, -EOPNOTSUPP, -EOPNOTSUPP);
	ROW(mmap2, 1, -EOPNOTSUPP, -EOPNOTSUPP);
	ROW(mmap_data, 1, -EOPNOTSUPP, -EOPNOTSUPP);
	ROW(comm, 1, -EOPNOTSUPP, -EOPNOTSUPP);
	ROW(task, 1, -EOPNOTSUPP, -EOPNOTSUPP);
	ROW(context_switch, 1, -EOPNOTSUPP, -EOPNOTSUPP);
	end();
}
END_TEST

START_TEST(attr_hardware_configs_follow_pmceid)
{
	begin(_i);
	for (unsigned config = 0; config < 10; config++)
		ROW(config, config, config < 2 ? 0 : -ENOENT, config < 2 ? 0 : -ENOENT);
	ROW(config, 10, -EINVAL, -EINVAL);
	ROW(config, UINT32_MAX, -EINVAL, -EINVAL);
	/* config[63:32] names a PMU */
	ROW(config, UINT64_C(1) << 63, 0, 0);
	ROW(config, UINT64_C(1) << 32, 0, -ENOENT);	  /* software */
	ROW(config, UINT64_C(2) << 32, -ENOENT, -ENOENT); /* tracepoint */
	ROW(config, UINT64_C(4) << 32, 0, 0);		  /* raw */
	ROW(config, UINT64_C(8) << 32, -ENOENT, -ENOENT); /* this PMU; a kprobe */
	ROW(config, UINT64_C(10) << 32, 0, 0);		  /* nobody; this PMU */
	ROW(config, (UINT64_C(4) << 32) + 10, -EINVAL, -EINVAL);
	end();
}
END_TEST

static long try_type(uint32_t type, uint64_t config)
{
	attr = fk_attr(config, 0);
	attr.type = type;
	return try_attr();
}

START_TEST(attr_types)
{
	begin(_i);
	ck_assert_int_eq(try_type(PERF_TYPE_RAW, 0x11), 0);
	ck_assert_int_eq(try_type(PERF_TYPE_RAW, 0xffff), 0);
	ck_assert_int_eq(try_type(PERF_TYPE_RAW, 0x10011), 0);
	ck_assert_int_eq(try_type(PERF_TYPE_RAW, 0x1e), _i ? -EINVAL : 0);
	ck_assert_int_eq(try_type(PERF_TYPE_RAW, 0x1001e), _i ? -EINVAL : 0);
	ck_assert_int_eq(try_type(8, 0x11), _i ? -ENOENT : 0);
	ck_assert_int_eq(try_type(10, 0x11), _i ? 0 : -ENOENT);
	for (uint64_t config = 0; config < 12; config++)
		ck_assert_int_eq(try_type(PERF_TYPE_SOFTWARE, config), 0);
	ck_assert_int_eq(try_type(PERF_TYPE_SOFTWARE, 12), -ENOENT);
	ck_assert_int_eq(try_type(PERF_TYPE_SOFTWARE, UINT64_C(1) << 32), -ENOENT);
	ck_assert_int_eq(try_type(PERF_TYPE_TRACEPOINT, 1), -ENOENT);
	ck_assert_int_eq(try_type(PERF_TYPE_BREAKPOINT, 0), -ENOENT);
	/* the clocks are PMUs of their own on 6.12 */
	ck_assert_int_eq(try_type(6, 0), _i ? 0 : -ENOENT);
	ck_assert_int_eq(try_type(7, 0), -ENOENT);
	ck_assert_int_eq(try_type(7, 1), _i ? 0 : -ENOENT);
	ck_assert_int_eq(try_type(99, 0), -ENOENT);
	ck_assert_int_eq(try_type(UINT32_MAX, 0), -ENOENT);
	ck_assert_int_eq(try_type(PERF_TYPE_HW_CACHE, 0), -ENOENT);
	ck_assert_int_eq(try_type(PERF_TYPE_HW_CACHE, 7), -EINVAL);
	ck_assert_int_eq(try_type(PERF_TYPE_HW_CACHE, 0x300), -EINVAL);
	ck_assert_int_eq(try_type(PERF_TYPE_HW_CACHE, 0x20000), -EINVAL);
	end();
}
END_TEST

START_TEST(attr_raw_config_reaches_the_type_register)
{
	uint64_t value = 0;

	begin(_i);
	attr = fk_attr(0x12340008, 0);
	attr.type = PERF_TYPE_RAW;
	attr.exclude_user = 1;
	attr.disabled = 0;
	long fd = fk_open(fk, &attr, -1);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(fk_writes(fk, HAL_PMEVTYPER_EL0(0), &value), 1);
	/* P (31): not EL1, U (30): not EL0 */
	ck_assert_uint_eq(value, UINT64_C(0xc0000008));
	fk_log_clear(fk);
	attr.exclude_user = attr.exclude_kernel = attr.exclude_hv = 0;
	fd = fk_open(fk, &attr, -1);
	ck_assert_int_ge(fd, 0);
	fk_writes(fk, HAL_PMEVTYPER_EL0(1), &value);
	ck_assert_uint_eq(value, UINT64_C(0x08000008)); /* NSH (27) */
	attr.config = 0xabcd;
	fd = fk_open(fk, &attr, -1);
	ck_assert_int_ge(fd, 0);
	fk_writes(fk, HAL_PMEVTYPER_EL0(2), &value);
	ck_assert_uint_eq(value, UINT64_C(0x0800abcd));
	end();
}
END_TEST

/* --- rights ---------------------------------------------------------------- */

static void drop_rights(int64_t paranoid)
{
	memset(fk->caps, 0, sizeof(fk->caps));
	fk->sysctl[KSYS_SYSCTL_PARANOID] = paranoid;
}

START_TEST(rights_paranoid_levels)
{
	begin(_i);
	for (int64_t level = -1; level <= 4; level++) {
		drop_rights(level);
		attr = fk_attr(0, 0);
		ck_assert_int_eq(try_attr(), level > 2 ? -EACCES : 0);
		attr.exclude_kernel = 0;
		ck_assert_int_eq(try_attr(), level > 1 ? -EACCES : 0);
		ck_assert_int_eq(try_args(-1, 0, -1, 0), level > 0 ? -EACCES : 0);
		attr.exclude_kernel = 1;
		attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
		ck_assert_int_eq(try_attr(), level > 1 ? -EACCES : 0);
		attr.sample_type = PERF_SAMPLE_CALLCHAIN;
		ck_assert_int_eq(try_attr(),
				 level > 2 || (_i && level > 1) ? -EACCES : 0);
		attr.exclude_callchain_kernel = 1;
		ck_assert_int_eq(try_attr(), level > 2 ? -EACCES : 0);
	}
	end();
}
END_TEST

START_TEST(rights_of_capabilities)
{
	begin(_i);
	drop_rights(3);
	attr.exclude_kernel = 0;
	fk->caps[KSYS_CAP_PERFMON] = true;
	ck_assert_int_eq(try_attr(), -EACCES); /* Debian's level wants SYS_ADMIN */
	fk->sysctl[KSYS_SYSCTL_PARANOID] = 2;
	ck_assert_int_eq(try_attr(), 0);
	drop_rights(3);
	fk->caps[KSYS_CAP_SYS_ADMIN] = true;
	ck_assert_int_eq(try_attr(), 0);
	drop_rights(-1);
	attr.namespaces = 1;
	ck_assert_int_eq(try_attr(), -EACCES);
	fk->caps[KSYS_CAP_PERFMON] = true;
	ck_assert_int_eq(try_attr(), 0);
	end();
}
END_TEST

START_TEST(rights_come_after_the_fields_and_before_the_period)
{
	begin(_i);
	drop_rights(3);
	attr.read_format = 32;
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr.read_format = 0;
	attr.sample_period = UINT64_C(1) << 63;
	ck_assert_int_eq(try_attr(), -EACCES);
	drop_rights(2);
	ck_assert_int_eq(try_attr(), -EINVAL);
	end();
}
END_TEST

START_TEST(rights_over_another_task)
{
	begin(_i);
	ck_assert_int_eq(try_args(101, -1, -1, 0), 0);
	drop_rights(2);
	ck_assert_int_eq(try_args(101, -1, -1, 0), -EACCES);
	ck_assert_int_eq(try_args(100, -1, -1, 0), 0);
	end();
}
END_TEST

/* --- targets --------------------------------------------------------------- */

START_TEST(target_pid_and_cpu)
{
	begin(_i);
	/* CPU 1 is there but off */
	ck_assert_int_eq(try_args(0, -1, -1, 0), 0);
	ck_assert_int_eq(try_args(100, -1, -1, 0), 0);
	ck_assert_int_eq(try_args(0, 0, -1, 0), 0);
	ck_assert_int_eq(try_args(0, 1, -1, 0), 0);
	ck_assert_int_eq(try_args(0, 2, -1, 0), -EINVAL);
	ck_assert_int_eq(try_args(0, -2, -1, 0), -EINVAL);
	ck_assert_int_eq(try_args(-1, 0, -1, 0), 0);
	ck_assert_int_eq(try_args(-1, 1, -1, 0), -ENODEV);
	ck_assert_int_eq(try_args(-1, 2, -1, 0), -EINVAL);
	ck_assert_int_eq(try_args(-1, -1, -1, 0), -EINVAL);
	ck_assert_int_eq(try_args(9999, -1, -1, 0), -ESRCH);
	ck_assert_int_eq(try_args(-5, -1, -1, 0), -ESRCH);
	/* the task is looked for before the CPU is checked */
	ck_assert_int_eq(try_args(9999, 7, -1, 0), -ESRCH);
	end();
}
END_TEST

START_TEST(target_flags)
{
	begin(_i);
	ck_assert_int_eq(try_args(0, -1, -1, PERF_FLAG_FD_CLOEXEC), 0);
	ck_assert_int_eq(try_args(0, -1, -1, PERF_FLAG_FD_NO_GROUP), 0);
	ck_assert_int_eq(try_args(0, -1, -1, PERF_FLAG_FD_OUTPUT), 0);
	ck_assert_int_eq(try_args(-1, 0, -1, PERF_FLAG_PID_CGROUP), -EINVAL);
	ck_assert_int_eq(try_args(3, -1, -1, PERF_FLAG_PID_CGROUP), -EINVAL);
	ck_assert_int_eq(try_args(3, 0, -1, PERF_FLAG_PID_CGROUP), -EBADF);
	ck_assert_int_eq(try_args(0, -1, -1, 16), -EINVAL);
	end();
}
END_TEST

START_TEST(target_group_fd)
{
	begin(_i);
	fk->fd_other[40] = true;
	ck_assert_int_eq(try_args(0, -1, 39, 0), -EBADF);
	ck_assert_int_eq(try_args(0, -1, -2, 0), -EBADF);
	ck_assert_int_eq(try_args(0, -1, 40, 0), -EBADF);
	/* the group is looked for before the task */
	ck_assert_int_eq(try_args(9999, -1, 39, 0), -EBADF);
	fk->fd_other[40] = false;
	end();
}
END_TEST

START_TEST(group_members_must_match)
{
	begin(_i);
	long leader = fk_open(fk, &attr, -1);
	long member = fk_open(fk, &attr, (int)leader);
	ck_assert_int_ge(member, 0);
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), 0);
	ck_assert_int_eq(try_args(0, -1, (int)member, 0), -EINVAL); /* no leader */
	ck_assert_int_eq(try_args(0, 0, (int)leader, 0), -EINVAL);  /* other cpu */
	ck_assert_int_eq(try_args(101, -1, (int)leader, 0), -EINVAL);
	ck_assert_int_eq(try_args(-1, 0, (int)leader, 0), -EINVAL);
	/* without a group none of it matters */
	ck_assert_int_eq(try_args(0, 0, (int)leader, PERF_FLAG_FD_NO_GROUP), 0);
	attr.inherit = 1;
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), -EINVAL);
	attr = fk_attr(0, 0);
	attr.pinned = 1;
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), -EINVAL);
	attr = fk_attr(0, 0);
	attr.exclusive = 1;
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), -EINVAL);
	attr = fk_attr(0, 0);
	attr.use_clockid = 1;
	attr.clockid = 1;
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), -EINVAL);
	end();
}
END_TEST

START_TEST(group_of_a_dead_task)
{
	begin(_i);
	long leader = fk_open_args(fk, &attr, 101, -1, -1, 0);
	ck_assert_int_ge(leader, 0);
	kperf_task_exit(fk->perf, &fk->tasks[1]);
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), _i ? -ENODEV : -EINVAL);
	end();
}
END_TEST

START_TEST(group_that_cannot_fit_is_refused)
{
	begin(_i);
	attr.disabled = 0;
	long leader = fk_open(fk, &attr, -1);
	for (int n = 0; n < 6; n++)
		ck_assert_int_ge(fk_open(fk, &attr, (int)leader), 0);
	/* seven counters: the cycle counter and six */
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), -EINVAL);
	/* one that is off is not tried */
	attr.disabled = 1;
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), 0);
	attr.disabled = 0;
	ck_assert_int_eq(try_args(0, -1, -1, 0), 0); /* waits for its turn */
	end();
}
END_TEST

/* Whoever asks for the group's values sets the bound: 8 + 24 n <= 16384. */
static void bounded_read_size(unsigned who_asks)
{
	enum {
		MEMBERS = 681
	};
	static struct kperf_event *members[MEMBERS];
	const uint64_t all = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;

	attr.read_format = who_asks == 0 ? all : 0;

	long leader = fk_open(fk, &attr, -1);

	for (int n = 0; n < MEMBERS; n++) {
		attr.read_format = who_asks == 1 && n == 7 ? all : 0;

		long fd = fk_open(fk, &attr, (int)leader);

		ck_assert_int_ge(fd, 0);
		members[n] = fk->fds[fd]; /* more events than fds */
		fk->fds[fd] = NULL;
	}
	attr.read_format = who_asks == 2 ? all : 0;
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), -E2BIG);
	for (int n = 0; n < MEMBERS; n++)
		kperf_release(members[n]);
	ck_assert_int_eq(try_args(0, -1, (int)leader, 0), 0);
	fk_close(fk, leader);
}

START_TEST(group_read_size_is_bounded)
{
	begin(_i);
	for (unsigned who_asks = 0; who_asks < 3; who_asks++)
		bounded_read_size(who_asks);
	end();
}
END_TEST

/* --- what failing opens leave behind --------------------------------------- */

START_TEST(open_failure_frees_all)
{
	begin(_i);
	for (unsigned n = 1;; n++) {
		unsigned before = fk->allocations;

		fk->fail_alloc = n;

		long fd = fk_open_args(fk, &attr, 102, -1, -1, 0);

		if (fk->fail_alloc) {
			ck_assert_int_ge(fd, 0);
			ck_assert_uint_ge(n, 3); /* event and context were tried */
			fk->fail_alloc = 0;
			break;
		}
		ck_assert_int_eq(fd, -ENOMEM);
		ck_assert_uint_eq(fk->allocations, before);
	}
	end();
}
END_TEST

START_TEST(open_failure_uses_up_an_id)
{
	begin(_i);
	long a = fk_open(fk, &attr, -1);
	ck_assert_uint_eq(fk_id(fk, a), 1);
	ck_assert_int_eq(try_type(PERF_TYPE_BREAKPOINT, 0), -ENOENT); /* id 2 */
	attr = fk_attr(0, 0);
	ck_assert_int_eq(try_args(0, 5, -1, 0), -EINVAL); /* before there is an id */
	long b = fk_open(fk, &attr, -1);
	ck_assert_uint_eq(fk_id(fk, b), 3);
	end();
}
END_TEST

START_TEST(open_without_fds)
{
	begin(_i);
	for (int fd = 3; fd < FK_FDS; fd++)
		fk->fd_other[fd] = true;
	ck_assert_int_eq(try_attr(), -EMFILE);
	/* before the group is looked for, after the attribute */
	ck_assert_int_eq(try_args(0, -1, 999, 0), -EMFILE);
	attr.read_format = 32;
	ck_assert_int_eq(try_attr(), -EINVAL);
	end();
}
END_TEST

/* A22 */
START_TEST(open_without_interrupt)
{
	profile = _i;
	boot(false);
	ck_assert_int_eq(try_attr(), 0);
	attr = fk_attr(0, 1000);
	ck_assert_int_eq(try_attr(), -EOPNOTSUPP);
	attr = fk_attr(0, 0);
	attr.freq = 1;
	ck_assert_int_eq(try_attr(), 0);
	attr.sample_freq = 100;
	ck_assert_int_eq(try_attr(), -EOPNOTSUPP);
	/* what comes first */
	attr = fk_attr(5, 1000);
	ck_assert_int_eq(try_attr(), -ENOENT);
	attr = fk_attr(10, 1000);
	ck_assert_int_eq(try_attr(), -EINVAL);
	attr = fk_attr(0, UINT64_C(1) << 63);
	ck_assert_int_eq(try_attr(), -EINVAL);
	/* counting works, a sampling member does not open */
	attr = fk_attr(0, 0);
	attr.disabled = 0;
	long fd = fk_open(fk, &attr, -1);
	fk_run(fk, 12345);
	ck_assert_uint_eq(fk_count(fk, fd), 12345);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 1), -EINVAL);
	ck_assert_int_eq(fk_set_period(fk, fd, 100), -EINVAL);
	attr = fk_attr(0, 1000);
	ck_assert_int_eq(try_args(0, -1, (int)fd, 0), -EOPNOTSUPP);
	end();
}
END_TEST

START_TEST(profiles_are_listed)
{
	struct fake_kernel *k = fk_create("linux-6.1", 6, true);
	struct kperf *perf = NULL;

	ck_assert_str_eq(kperf_profile(0), "linux-6.1");
	ck_assert_str_eq(kperf_profile(1), "linux-6.12");
	ck_assert_ptr_null(kperf_profile(2));
	ck_assert_int_eq(kperf_create(&k->sys, "linux-6.13", &perf), -ENOENT);
	ck_assert_int_eq(kperf_create(&k->sys, "linux-6.1", &perf), 0);
	kperf_destroy(perf);
	fk_destroy(k);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attr");
	TCase *tcase = tcase_create("attr");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, attr_size_versions_are_accepted, 0, 2);
	tcase_add_loop_test(tcase, attr_size_out_of_range_stores_the_kernels, 0, 2);
	tcase_add_loop_test(tcase, attr_size_tail_must_be_zero, 0, 2);
	tcase_add_loop_test(tcase, attr_pointer_faults, 0, 2);
	tcase_add_loop_test(tcase, attr_fields_are_validated, 0, 2);
	tcase_add_loop_test(tcase, attr_aux_action_word, 0, 2);
	tcase_add_loop_test(tcase, attr_pairs_are_validated, 0, 2);
	tcase_add_loop_test(tcase, attr_frequency_at_most_the_sysctl, 0, 2);
	tcase_add_loop_test(tcase, attr_sample_fields_that_need_nothing_else, 0, 2);
	tcase_add_loop_test(tcase, attr_not_built_is_eopnotsupp, 0, 2);
	tcase_add_loop_test(tcase, attr_hardware_configs_follow_pmceid, 0, 2);
	tcase_add_loop_test(tcase, attr_types, 0, 2);
	tcase_add_loop_test(tcase, attr_raw_config_reaches_the_type_register, 0, 2);
	tcase_add_loop_test(tcase, rights_paranoid_levels, 0, 2);
	tcase_add_loop_test(tcase, rights_of_capabilities, 0, 2);
	tcase_add_loop_test(tcase, rights_come_after_the_fields_and_before_the_period, 0,
			    2);
	tcase_add_loop_test(tcase, rights_over_another_task, 0, 2);
	tcase_add_loop_test(tcase, target_pid_and_cpu, 0, 2);
	tcase_add_loop_test(tcase, target_flags, 0, 2);
	tcase_add_loop_test(tcase, target_group_fd, 0, 2);
	tcase_add_loop_test(tcase, group_members_must_match, 0, 2);
	tcase_add_loop_test(tcase, group_of_a_dead_task, 0, 2);
	tcase_add_loop_test(tcase, group_that_cannot_fit_is_refused, 0, 2);
	tcase_add_loop_test(tcase, group_read_size_is_bounded, 0, 2);
	tcase_add_loop_test(tcase, open_failure_frees_all, 0, 2);
	tcase_add_loop_test(tcase, open_failure_uses_up_an_id, 0, 2);
	tcase_add_loop_test(tcase, open_without_fds, 0, 2);
	tcase_add_loop_test(tcase, open_without_interrupt, 0, 2);
	tcase_add_test(tcase, profiles_are_listed);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
