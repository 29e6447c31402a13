// Preloaded into kerf by the loop tests: counts what it does to files and processes, kills it at one of these steps, or
// lets the disk be full from one on. Steps are counted, not timed: the same point comes again.
//   KERF_IO_STEPS=count:FILE        FILE holds the number of steps so far (8 bytes)
//   KERF_IO_STEPS=kill:N            SIGKILL at step N, of a write every other time after half of it
//   KERF_IO_STEPS=full:N            from step N on, files take no more bytes (ENOSPC), in its children too
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

enum class Mode { Off, Count, Kill, Full };

struct State {
  Mode mode = Mode::Off;
  pid_t owner = 0;  ///< only its steps count; children made by fork are others
  std::uint64_t limit = 0;
  std::atomic<std::uint64_t> own{0};
  std::atomic<std::uint64_t>* count = &own;
};
constinit State state;

void countInto(const char* path) {
  const int file = int(::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file < 0 || ::syscall(SYS_ftruncate, file, 8) != 0) return;
  void* memory = ::mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) state.count = static_cast<std::atomic<std::uint64_t>*>(memory);
  ::syscall(SYS_close, file);
}

__attribute__((constructor)) void start() {
  const char* text = std::getenv("KERF_IO_STEPS");
  if (text == nullptr) return;
  const char* value = std::strchr(text, ':');
  if (value == nullptr) return;
  state.owner = ::getpid();
  state.limit = std::strtoull(value + 1, nullptr, 10);
  if (std::strncmp(text, "count", 5) == 0) {
    countInto(value + 1);
    state.mode = Mode::Count;
  } else {
    state.mode = std::strncmp(text, "full", 4) == 0 ? Mode::Full : Mode::Kill;
  }
  if (state.mode != Mode::Full) ::unsetenv("KERF_IO_STEPS");  // programs that this one starts are others
}

void die() { ::syscall(SYS_kill, ::getpid(), 9); }

/// Counts a step; whether the process is to die at it.
bool isLast() {
  if (state.mode != Mode::Count && state.mode != Mode::Kill) return false;
  if (::getpid() != state.owner) return false;
  const auto step = ++*state.count;
  return state.mode == Mode::Kill && step == state.limit;
}
void step() {
  if (isLast()) die();
}

/// Whether the disk is full for these bytes.
bool isRefused(int file) {
  if (state.mode != Mode::Full) return false;
  struct stat status{};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  return ++*state.count >= state.limit;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

/// A write of `count` bytes, which `write(bytes)` does.
template <class Write>
ssize_t written(int file, std::size_t count, Write write) {
  if (isRefused(file)) {
    errno = ENOSPC;
    return -1;
  }
  if (isLast()) {
    if (state.limit % 2 == 1) (void)write(count / 2);
    die();
  }
  return write(count);
}

}  // namespace

#define KERF_NEXT(name) static const auto real = next<decltype(&::name)>(#name)

extern "C" {

ssize_t write(int file, const void* bytes, size_t count) {
  KERF_NEXT(write);
  return written(file, count, [&](size_t some) { return real(file, bytes, some); });
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  KERF_NEXT(pwrite);
  return written(file, count, [&](size_t some) { return real(file, bytes, some, offset); });
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  KERF_NEXT(pwrite64);
  return written(file, count, [&](size_t some) { return real(file, bytes, some, offset); });
}
ssize_t writev(int file, const iovec* pieces, int count) {
  KERF_NEXT(writev);
  return written(file, size_t(count), [&](size_t some) { return some == 0 ? 0 : real(file, pieces, int(some)); });
}
int ftruncate(int file, off_t length) {
  KERF_NEXT(ftruncate);
  step();
  return real(file, length);
}
int ftruncate64(int file, off64_t length) {
  KERF_NEXT(ftruncate64);
  step();
  return real(file, length);
}
int fsync(int file) {
  KERF_NEXT(fsync);
  step();
  return real(file);
}
int fdatasync(int file) {
  KERF_NEXT(fdatasync);
  step();
  return real(file);
}
int rename(const char* from, const char* to) {
  KERF_NEXT(rename);
  step();
  return real(from, to);
}
int link(const char* from, const char* to) {
  KERF_NEXT(link);
  step();
  return real(from, to);
}
int symlink(const char* from, const char* to) {
  KERF_NEXT(symlink);
  step();
  return real(from, to);
}
int unlink(const char* path) {
  KERF_NEXT(unlink);
  step();
  return real(path);
}
int unlinkat(int folder, const char* path, int flags) {
  KERF_NEXT(unlinkat);
  step();
  return real(folder, path, flags);
}
int remove(const char* path) {
  KERF_NEXT(remove);
  step();
  return real(path);
}
int mkdir(const char* path, mode_t mode) {
  KERF_NEXT(mkdir);
  step();
  return real(path, mode);
}
int rmdir(const char* path) {
  KERF_NEXT(rmdir);
  step();
  return real(path);
}
int open(const char* path, int flags, ...) {
  KERF_NEXT(open);
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : mode_t(0);
  va_end(rest);
  if ((flags & (O_CREAT | O_TRUNC)) != 0) step();
  return real(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  KERF_NEXT(open64);
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : mode_t(0);
  va_end(rest);
  if ((flags & (O_CREAT | O_TRUNC)) != 0) step();
  return real(path, flags, mode);
}
/// Dying behind the fork, with the child already there.
pid_t fork() {
  KERF_NEXT(fork);
  const pid_t child = real();
  if (child > 0) step();
  return child;
}

}  // extern "C"
