#include <array>
#include <cerrno>
#include <cstring>

#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>
#ifdef KERF_HAS_SECCOMP
#include <seccomp.h>
#endif

#include "engine/process/in_child.h"
#include "engine/python/sandbox.h"

namespace kerf::inline python {
namespace {

/// Everything open but the standard files, which lead to /dev/null here, and the pipe.
void closeOthers(int pipe) {
  std::vector<int> open;
  if (DIR* folder = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(folder))
      if (entry->d_name[0] != '.') open.push_back(std::atoi(entry->d_name));
    ::closedir(folder);
  }
  for (const int file : open)
    if (file > 2 && file != pipe) ::close(file);
}

#ifdef KERF_HAS_SECCOMP

/// Memory, clocks, waiting of threads, random bytes, and the end of the process.
constexpr std::array allowed = {
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getrandom),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sched_yield),
    SCMP_SYS(getrusage),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getppid),
    SCMP_SYS(membarrier),
    SCMP_SYS(sched_getaffinity),
};

class Filter {
 public:
  Filter() : m_context(seccomp_init(SCMP_ACT_ERRNO(EPERM))) {}
  ~Filter() { seccomp_release(m_context); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  bool allow(int call) { return m_context && seccomp_rule_add(m_context, SCMP_ACT_ALLOW, call, 0) == 0; }
  /// Only with this value as its argument `place`.
  bool allow(int call, unsigned place, std::uint64_t value) {
    const scmp_arg_cmp same{place, SCMP_CMP_EQ, value, 0};
    return m_context && seccomp_rule_add_array(m_context, SCMP_ACT_ALLOW, call, 1, &same) == 0;
  }
  int load() { return seccomp_load(m_context); }

 private:
  scmp_filter_ctx m_context;
};

Result<void> loadFilter(int pipe) {
  Filter filter;
  bool whole = true;
  for (const int call : allowed) whole = whole && filter.allow(call);
  for (const int file : {1, 2, pipe}) {
    whole = whole && filter.allow(SCMP_SYS(write), 0, std::uint64_t(file));
    whole = whole && filter.allow(SCMP_SYS(writev), 0, std::uint64_t(file));
    whole = whole && filter.allow(SCMP_SYS(sendto), 0, std::uint64_t(file));
  }
  whole = whole && filter.allow(SCMP_SYS(poll), 1, 1) && filter.allow(SCMP_SYS(ppoll), 1, 1);
  whole = whole && filter.allow(SCMP_SYS(tgkill), 0, std::uint64_t(::getpid()));  // abort()
  if (!whole) return fail(ErrorCode::Environment, "the filter of system calls cannot be built");
  if (const int problem = filter.load(); problem != 0)
    return fail(ErrorCode::Environment,
                "this kernel takes no filter of system calls ({}); a program is not run without one",
                std::strerror(-problem));
  return {};
}

#else

Result<void> loadFilter(int) {
  return fail(ErrorCode::Environment,
              "this kerf was built without libseccomp, which keeps programs from the machine; a "
              "program is not run without it");
}

#endif

}  // namespace

Result<void> enterSandbox(int pipe) {
  closeOthers(pipe);
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(ErrorCode::Environment, "the process of a program cannot be confined: {}", std::strerror(errno));
  return loadFilter(pipe);
}

}  // namespace kerf::inline python
