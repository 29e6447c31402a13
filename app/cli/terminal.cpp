#include "app/cli/terminal.h"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "engine/support/log.h"
#include "engine/support/printable.h"

namespace kerf::cli {

namespace {

/// One of the two standard files behind its guard.
struct Guarded {
  int file = -1;
  FILE* stream = nullptr;
  PrintableStream escaper;
};

std::array<Guarded, 2>& guards() {
  static std::array<Guarded, 2> both{Guarded{STDOUT_FILENO, nullptr, {}}, Guarded{STDERR_FILENO, nullptr, {}}};
  return both;
}

int fileOf(FILE* stream) {
  for (const auto& guard : guards())
    if (stream == guard.stream) return guard.file;
  return ::fileno(stream);
}

bool writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(std::size_t(written));
  }
  return true;
}

ssize_t writeEscaped(void* cookie, const char* data, std::size_t size) {
  auto& guard = *static_cast<Guarded*>(cookie);
  return writeAll(guard.file, guard.escaper.next({data, size})) ? ssize_t(size) : 0;
}

FILE* guardedStream(Guarded& guard) {
  const cookie_io_functions_t functions{.read = nullptr, .write = writeEscaped, .seek = nullptr, .close = nullptr};
  return ::fopencookie(&guard, "w", functions);
}

ColourChoice& colourChoice() {
  static ColourChoice choice = ColourChoice::Auto;
  return choice;
}

bool isSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

struct Label {
  std::string_view word, colour;
};
constexpr Label labels[] = {{"error", "\033[1;31m"}, {"warning", "\033[1;33m"}, {"hint", "\033[1;36m"}};  // by Tone
constexpr std::string_view plain = "\033[0m";

}  // namespace

void guardTerminal() {
  auto& [out, errors] = guards();
  for (auto* guard : {&out, &errors}) guard->stream = guardedStream(*guard);
  if (out.stream == nullptr || errors.stream == nullptr) return;  // out of memory: the next allocation says so
  std::setvbuf(out.stream, nullptr, ::isatty(out.file) != 0 ? _IOLBF : _IOFBF, 1 << 16);
  std::setvbuf(errors.stream, nullptr, _IONBF, 0);
  stdout = out.stream;
  stderr = errors.stream;
}

void finishTerminal() {
  for (auto& guard : guards()) {
    if (guard.stream == nullptr) continue;
    std::fflush(guard.stream);
    (void)writeAll(guard.file, guard.escaper.rest());
  }
}

void chooseColours(ColourChoice choice) { colourChoice() = choice; }

bool isTerminal(FILE* stream) {
  const char* kind = std::getenv("TERM");
  return ::isatty(fileOf(stream)) != 0 && (kind == nullptr || std::string_view(kind) != "dumb");
}

bool coloured(FILE* stream) {
  if (colourChoice() != ColourChoice::Auto) return colourChoice() == ColourChoice::Always;
  return isTerminal(stream) && !isSet("NO_COLOR");
}

bool printTrusted(FILE* stream, std::string_view text) {
  std::fflush(stream);
  return writeAll(fileOf(stream), text);
}

void complain(Tone tone, std::string_view text) {
  const auto& label = labels[std::size_t(tone)];
  const bool colours = coloured(stderr);
  printTrusted(stderr, fmt::format("{}kerf: {}:{} {}\n", colours ? label.colour : "", label.word, colours ? plain : "",
                                   escapedText(text)));
}

}  // namespace kerf::cli
