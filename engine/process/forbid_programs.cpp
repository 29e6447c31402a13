#include "engine/process/forbid_programs.h"

#include <array>
#include <cerrno>
#include <cstddef>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/support/sanitizers.h"

namespace kerf::inline process {

namespace {

#if defined(__x86_64__)
constexpr unsigned machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned machine = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned machine = 0;
#endif

constexpr unsigned short load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K,
                         atLeast = BPF_JMP | BPF_JGE | BPF_K, give = BPF_RET | BPF_K;

/// The calls of x86-64 have these numbers as well, with 32-bit pointers; no machine has others so high.
constexpr unsigned firstOfX32 = 0x40000000;

/// One comparison with the number of a system call; on a match it goes on at the last instruction, `left` further.
constexpr sock_filter refuse(unsigned call, unsigned char left) { return BPF_JUMP(equal, call, left, 0); }

std::array<sock_filter, 11> rules() {
  return {{BPF_STMT(load, offsetof(seccomp_data, arch)),
           BPF_JUMP(equal, machine, 0, 8),  // another machine's calls (i386's are made by int 0x80) have other numbers
           BPF_STMT(load, offsetof(seccomp_data, nr)), BPF_JUMP(atLeast, firstOfX32, 6, 0), refuse(__NR_execve, 5),
           refuse(__NR_execveat, 4), refuse(__NR_setsid, 3), refuse(__NR_setpgid, 2), refuse(__NR_unshare, 1),
           BPF_STMT(give, SECCOMP_RET_ALLOW), BPF_STMT(give, SECCOMP_RET_ERRNO | EPERM)}};
}

}  // namespace

void forbidPrograms() {
  if (machine == 0 || addressSanitizer || threadSanitizer) return;
  auto instructions = rules();
  const sock_fprog program{static_cast<unsigned short>(instructions.size()), instructions.data()};
  // SPEC_ALLOW: no speculation is switched off, which would cost the kernels time.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    (void)::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

}  // namespace kerf::inline process
