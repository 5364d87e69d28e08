#include "repl/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The rights of the first version, of later ones those that a header may lack, and what each version added. */
enum { VERSION_1 = 0x1fff, REFER = 0x2000, TRUNCATE = 0x4000, READ = LANDLOCK_ACCESS_FS_READ_FILE };

/* Read by rql itself and the C library; standard input was opened by the user. */
static const char *const system_places[] = {
    "/usr/share/zoneinfo", "/etc/localtime",    "/usr/share/terminfo", "/lib/terminfo", "/etc/terminfo",
    "/proc/meminfo",       "/proc/self/cgroup", "/sys/fs/cgroup",      "/dev/tty",      "/dev/stdin"};

/* Lets a file, or a directory and what is below, be read; one that is not there gets no rule. */
static bool allow_reading(int rules, const char *path)
{
    struct stat info;
    const int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0)
        return true;
    const bool is_directory = fstat(place, &info) == 0 && S_ISDIR(info.st_mode);
    const struct landlock_path_beneath_attr rule = {
        .allowed_access = READ | (is_directory ? LANDLOCK_ACCESS_FS_READ_DIR : 0), .parent_fd = place};
    /* Pipes have no place in a file system, and stay as they are. */
    const bool added =
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 || errno == EBADFD;
    close(place);
    return added;
}

static bool confine_files(const char *script, const char *const *files, size_t count)
{
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return false;
    const struct landlock_ruleset_attr handled = {.handled_access_fs = VERSION_1 | (version >= 2 ? REFER : 0) |
                                                                       (version >= 3 ? TRUNCATE : 0)};
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0);
    if (rules < 0)
        return false;
    bool confined = allow_reading(rules, ".") && (!script || allow_reading(rules, script));
    for (size_t k = 0; k < sizeof system_places / sizeof *system_places; k++)
        confined = confined && allow_reading(rules, system_places[k]);
    for (size_t k = 0; k < count; k++)
        confined = confined && allow_reading(rules, files[k]);
    confined = confined && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return confined;
}

#if defined(__x86_64__)
static const uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
static const uint32_t machine = AUDIT_ARCH_AARCH64;
#else
static const uint32_t machine = 0;
#endif

enum { OTHER_ABI = 0x40000000 }; /* x86-64's system calls with pointers of 32 bits */

/* Programs and connections: the calls give EACCES. */
static bool refuse_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_ABI, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    return machine != 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool sandbox_enter(const char *script, const char *const *files, size_t count, struct strbuf *problem)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && confine_files(script, files, count) && refuse_calls())
        return true;
    strbuf_printf(problem, "rql: --safe is not possible here: the kernel lacks Landlock or seccomp (%s)\n",
                  strerror(errno));
    return false;
}
