/* SPDX-License-Identifier: MIT */
/*
 * PID 1 of the recorder's boots: runs every scenario that /order names, one
 * after the other, and powers off. Its marks on the console:
 *
 *     @kernel RELEASE
 *     @version TEXT            names the distribution's package version
 *     @sysctl NAME VALUE       as read back
 *     @scenario NAME           the agent's log follows
 *     @exit STATUS             128 + signal when one ended the agent
 *     @done COUNT              nothing was cut off
 *     @probe NAME FIELD=VALUE ...  what a kprobe saw while the scenario ran
 *
 * Kprobes are there when the image has /probes: lines for tracefs's kprobe_events.
 *
 * A line of /order that begins with / is a command instead, with its arguments.
 *
 * `pmulab.noise=N` on the kernel's command line makes noise on purpose: other
 * numbers of system calls, reads, files and processes before each scenario, and
 * another distance to the next tick, so that what counts EL1 differs from boot
 * to boot and cannot pass for exact.
 */
#include <stdbool.h>

#include "corpus/agent/bare.h"

#define AT_FDCWD -100
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_TRUNC 01000
#define SIGCHLD 17
#define REBOOT_MAGIC1 0xfee1dead
#define REBOOT_MAGIC2 672274793
#define REBOOT_OFF 0x4321fedc
#define SYSLOG_CONSOLE_LEVEL 8
#define MAX_ARGS 32
#define PERF "/proc/sys/kernel/perf_event_"
#define TRACING "/sys/kernel/tracing"

static char order[65536];
static char text[4096];

/* What scenarios may write to, and what stood there before. */
static const char *const sysctls[] = {
	PERF "paranoid",
	PERF "mlock_kb",
	PERF "max_stack",
	PERF "max_contexts_per_stack",
	PERF "max_sample_rate",
	"/proc/sys/kernel/perf_user_access",
	"/proc/sys/kernel/perf_cpu_time_max_percent",
};
#define NSYSCTLS (sizeof(sysctls) / sizeof(sysctls[0]))
static char before[NSYSCTLS][32];

__attribute__((noreturn)) void init_main(void);

static void print(const char *s)
{
	bare_write(1, s, bare_strlen(s));
}

static void print_number(unsigned long value)
{
	char digits[24];
	size_t i = sizeof(digits);

	do
		digits[--i] = (char)('0' + value % 10);
	while (value /= 10);
	bare_write(1, digits + i, sizeof(digits) - i);
}

static int open_file(const char *path, int flags)
{
	return (int)bare_syscall(__NR_openat, AT_FDCWD, (long)path, flags, 0600, 0);
}

/* Up to size - 1 bytes, always ended by NUL. */
static size_t read_file(const char *path, char *to, size_t size)
{
	int fd = open_file(path, O_RDONLY);
	size_t used = 0;

	while (fd >= 0 && used < size - 1) {
		long n = bare_syscall(__NR_read, fd, (long)(to + used),
				      (long)(size - 1 - used), 0, 0);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (fd >= 0)
		bare_syscall(__NR_close, fd, 0, 0, 0, 0);
	to[used] = '\0';
	return used;
}

static void write_file(const char *path, const char *what)
{
	int fd = open_file(path, O_WRONLY);

	if (fd < 0)
		return;
	bare_syscall(__NR_write, fd, (long)what, (long)bare_strlen(what), 0, 0);
	bare_syscall(__NR_close, fd, 0, 0, 0, 0);
}

static void mount(const char *what, const char *where)
{
	bare_syscall(__NR_mkdirat, AT_FDCWD, (long)where, 0755, 0, 0);
	bare_syscall(__NR_mount, (long)what, (long)where, (long)what, 0, 0);
}

static void use_console(void)
{
	int fd = open_file("/dev/console", O_RDWR);

	if (fd < 0)
		return;
	for (int to = 0; to < 3; to++)
		if (fd != to)
			bare_syscall(__NR_dup3, fd, to, 0, 0, 0);
	if (fd > 2)
		bare_syscall(__NR_close, fd, 0, 0, 0, 0);
}

/* "@MARK NAME VALUE" with the file's first line. */
static void show(const char *mark, const char *name, const char *path)
{
	size_t n = read_file(path, text, sizeof(text));

	for (size_t i = 0; i < n; i++)
		if (text[i] == '\n')
			text[i] = '\0';
	print(mark);
	print(name);
	print(text);
	print("\n");
}

/* The rate first: it is refused once the percentage is 0. Without both, short
 * periods are throttled and the kernel lowers the rate in mid-boot. */
static void set_sysctls(void)
{
	write_file(PERF "max_sample_rate", "100000000\n");
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "0\n");
	show("@kernel ", "", "/proc/sys/kernel/osrelease");
	show("@version ", "", "/proc/sys/kernel/version");
	show("@sysctl ", "perf_event_max_sample_rate ", PERF "max_sample_rate");
	show("@sysctl ", "perf_cpu_time_max_percent ",
	     "/proc/sys/kernel/perf_cpu_time_max_percent");
	show("@sysctl ", "perf_event_paranoid ", PERF "paranoid");
	show("@sysctl ", "perf_event_mlock_kb ", PERF "mlock_kb");
}

static void remember_sysctls(void)
{
	for (size_t i = 0; i < NSYSCTLS; i++)
		read_file(sysctls[i], before[i], sizeof(before[i]));
}

/* The order of the list: the rate is refused while the percentage is 0 or 100. */
static void restore_sysctls(void)
{
	char now[32];

	for (size_t i = 0; i < NSYSCTLS; i++) {
		size_t n = read_file(sysctls[i], now, sizeof(now));

		for (size_t k = 0; k < n; k++) {
			if (now[k] == before[i][k])
				continue;
			if (i == 4)
				write_file(sysctls[6], "25\n");
			write_file(sysctls[i], before[i]);
			break;
		}
	}
}

static unsigned long noise_parameter(void)
{
	static const char key[] = "pmulab.noise=";
	unsigned long value = 0;

	read_file("/proc/cmdline", text, sizeof(text));
	for (const char *p = text; *p; p++) {
		size_t i = 0;

		while (key[i] && p[i] == key[i])
			i++;
		if (key[i])
			continue;
		for (p += i; *p >= '0' && *p <= '9'; p++)
			value = value * 10 + (unsigned long)(*p - '0');
		break;
	}
	return value;
}

static void burn(unsigned long turns)
{
	while (turns--)
		__asm__ volatile("" ::: "memory");
}

static void make_noise(unsigned long noise, unsigned long turn)
{
	unsigned long calls = noise * (37 + turn * 11 % 29) % 1009;
	unsigned long reads = (noise + turn) * noise % 5;

	if (!noise)
		return;
	for (unsigned long i = 0; i < calls; i++)
		bare_syscall(__NR_getppid, 0, 0, 0, 0, 0);
	for (unsigned long i = 0; i < reads; i++) {
		read_file("/proc/self/maps", text, sizeof(text));
		read_file("/proc/interrupts", text, sizeof(text));
	}
	if ((noise + turn) % 3 == 0) {
		int fd = open_file("/noise", O_RDWR | O_CREAT);

		bare_syscall(__NR_write, fd, (long)order, (long)(turn * 97 % 4096), 0, 0);
		bare_syscall(__NR_close, fd, 0, 0, 0, 0);
	}
	for (unsigned long i = 0; i < (noise + turn) % 4; i++) {
		long pid = bare_syscall(__NR_clone, SIGCHLD, 0, 0, 0, 0);

		if (!pid)
			bare_exit(0);
		bare_syscall(__NR_wait4, pid, 0, 0, 0, 0);
	}
	/* A tick is 4,000,000 instructions long. */
	burn((noise * 277787 + turn * 104729) % 2000000);
}

__attribute__((noreturn)) static void command(const char *line)
{
	static const char *envp[] = {"PATH=/usr/bin:/bin", "HOME=/", "TERM=dumb", "PAGER=cat",
				     NULL};
	static const char *argv[MAX_ARGS + 1];
	size_t n = 0, args = 0;

	while (n < sizeof(text) - 1 && line[n]) {
		text[n] = line[n] == ' ' ? '\0' : line[n];
		if (text[n] && (!n || !text[n - 1]) && args < MAX_ARGS)
			argv[args++] = text + n;
		n++;
	}
	text[n] = '\0';
	bare_syscall(__NR_execve, (long)argv[0], (long)argv, (long)envp, 0, 0);
	bare_exit(126);
}

/* --- kprobes ------------------------------------------------------------------ */

static bool set_probes(void)
{
	if (!read_file("/probes", text, sizeof(text)))
		return false;
	mount("tracefs", TRACING);
	write_file(TRACING "/buffer_size_kb", "8192\n");
	write_file(TRACING "/kprobe_events", text);
	write_file(TRACING "/events/kprobes/enable", "1\n");
	return true;
}

static void clear_trace(void)
{
	int fd = open_file(TRACING "/trace", O_WRONLY | O_TRUNC);

	bare_syscall(__NR_close, fd, 0, 0, 0, 0);
}

/* `COMM-PID [CPU] FLAGS TIME: NAME: (PLACE) FIELDS`: name and fields of it. */
static void print_probe(const char *line, size_t n)
{
	size_t name = 0, colon, fields;

	if (!n || line[0] == '#')
		return;
	while (name + 1 < n && (line[name] != ':' || line[name + 1] != ' '))
		name++;
	name += 2;
	for (colon = name; colon < n && line[colon] != ':'; colon++)
		;
	for (fields = colon; fields < n && line[fields] != ')'; fields++)
		;
	if (fields >= n)
		return;
	print("@probe ");
	bare_write(1, line + name, colon - name);
	bare_write(1, line + fields + 1, n - fields - 1);
	print("\n");
}

static void print_probes(void)
{
	int fd = open_file(TRACING "/trace", O_RDONLY);
	size_t used = 0;
	long n;

	while ((n = bare_syscall(__NR_read, fd, (long)(text + used),
				 (long)(sizeof(text) - used), 0, 0)) > 0) {
		size_t from = 0;

		used += (size_t)n;
		for (size_t i = 0; i < used; i++) {
			if (text[i] != '\n')
				continue;
			print_probe(text + from, i - from);
			from = i + 1;
		}
		for (size_t i = from; i < used; i++)
			text[i - from] = text[i];
		used = used - from < sizeof(text) ? used - from : 0;
	}
	bare_syscall(__NR_close, fd, 0, 0, 0, 0);
}

__attribute__((noreturn)) static void child(const char *name)
{
	static char path[512] = "/scn/";
	static const char *argv[] = {"agent", NULL};
	static const char *envp[] = {NULL};
	/* struct itimerval: tasks that wait for each other end by SIGALRM. */
	static const long limit[4] = {0, 0, 30, 0};
	size_t n = bare_strlen(name);
	int fd;

	if (*name == '/')
		command(name);
	if (n > sizeof(path) - 6)
		bare_exit(125);
	for (size_t i = 0; i <= n; i++)
		path[5 + i] = name[i];
	fd = open_file(path, O_RDONLY);
	if (fd < 0)
		bare_exit(125);
	bare_syscall(__NR_dup3, fd, 0, 0, 0, 0);
	bare_syscall(__NR_close, fd, 0, 0, 0, 0);
	bare_syscall(__NR_setitimer, 0, (long)limit, 0, 0, 0);
	bare_syscall(__NR_execve, (long)"/agent", (long)argv, (long)envp, 0, 0);
	bare_exit(126);
}

static void run(const char *name)
{
	unsigned status = 0;
	long pid;

	print("@scenario ");
	print(name);
	print("\n");
	pid = bare_syscall(__NR_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		child(name);
	while (bare_syscall(__NR_wait4, pid, (long)&status, 0, 0, 0) == -4) /* EINTR */
		;
	print("@exit ");
	print_number(pid < 0	    ? 127
		     : status & 127 ? 128 + (status & 127)
				    : status >> 8 & 255);
	print("\n");
	restore_sysctls();
}

void init_main(void)
{
	unsigned long noise, count = 0;
	char *p = order;
	bool probes;

	mount("devtmpfs", "/dev");
	use_console();
	mount("proc", "/proc");
	mount("sysfs", "/sys");
	bare_syscall(__NR_syslog, SYSLOG_CONSOLE_LEVEL, 0, 1, 0, 0);
	set_sysctls();
	probes = set_probes();
	remember_sysctls();
	noise = noise_parameter();
	read_file("/order", order, sizeof(order));
	while (*p) {
		char *name = p;

		while (*p && *p != '\n')
			p++;
		if (*p)
			*p++ = '\0';
		if (!*name)
			continue;
		make_noise(noise, count++);
		if (probes)
			clear_trace();
		run(name);
		if (probes)
			print_probes();
	}
	print("@done ");
	print_number(count);
	print("\n");
	bare_syscall(__NR_reboot, REBOOT_MAGIC1, REBOOT_MAGIC2, REBOOT_OFF, 0, 0);
	bare_exit(0);
}

/* The kernel's stack is aligned already; nothing of argv is used. */
__asm__(".globl _start\n"
	".type _start, %function\n"
	"_start:\n"
	"	mov	x29, xzr\n"
	"	mov	x30, xzr\n"
	"	b	init_main\n");
