// Tracebacks as CPython prints them, and what Inductor and Triton put into their messages.
#include "minifier/oracle/python_failure.h"

#include <algorithm>
#include <cctype>
#include <span>

#include <fmt/format.h>

#include "minifier/oracle/message_mask.h"

namespace kerf::inline minifier::inline oracle {

namespace {

using Lines = std::vector<std::string_view>;

Lines linesOf(std::string_view text) {
  Lines lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

/// `  File "x.py", line 3, in name` → "name".
std::optional<std::string> functionOf(std::string_view line) {
  if (!line.starts_with("  File \"")) return std::nullopt;
  const std::size_t at = line.rfind(", in ");
  return at == line.npos ? std::nullopt : std::optional(std::string(line.substr(at + 5)));
}

bool isName(std::string_view text) {
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '<' || c == '>';
  };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) && std::ranges::all_of(text, belongs);
}

/// "torch._inductor.exc.LoweringException" → "LoweringException".
std::string lastName(std::string_view dotted) {
  const std::size_t dot = dotted.rfind('.');
  return std::string(dot == dotted.npos ? dotted : dotted.substr(dot + 1));
}

std::string joined(std::span<const std::string_view> lines) {
  std::string text;
  for (const std::string_view line : lines) text += std::string(line) + "\n";
  return text;
}

std::string afterTarget(const Lines& lines) {
  for (const std::string_view line : lines)
    if (const auto text = trimmed(line); text.starts_with("target: ")) return std::string(text.substr(8));
  return {};
}

/// "x.cpp:12:5: error: …", of gcc, clang and nvcc ("x.cu(12): error: …").
std::string compilerError(const Lines& lines) {
  for (const std::string_view line : lines) {
    const std::size_t at = line.find(" error: ");
    if (at != line.npos && at > 0 && (line[at - 1] == ':' || line[at - 1] == ')'))
      return std::string(line.substr(at + 1));
  }
  return {};
}

/// The whole of a message's last line: Triton shows the source between the place and what is wrong with it.
bool isTritonPlace(std::string_view line) {
  return line.starts_with("at ") && line.ends_with(":") && line.find_first_not_of("0123456789:", 3) == line.npos;
}

}  // namespace

std::optional<PythonFailure> lastTraceback(std::string_view errors) {
  const Lines lines = linesOf(errors);
  const auto isHead = [](std::string_view line) {
    return trimmed(line).starts_with("Traceback (most recent call last)");
  };
  const auto last = std::ranges::find_if(lines.rbegin(), lines.rend(), isHead);
  if (last == lines.rend()) return std::nullopt;
  PythonFailure failure;
  const std::span<const std::string_view> all(lines);
  std::size_t at = std::size_t(lines.rend() - last);
  for (; at < all.size() && (all[at].starts_with("  ") || all[at].empty()); ++at)
    if (auto name = functionOf(all[at])) failure.frames.insert(failure.frames.begin(), std::move(*name));
  if (at == all.size()) return failure;
  const std::string_view line = all[at];
  const std::size_t colon = std::min(line.find(':'), line.size());
  if (!isName(line.substr(0, colon))) return failure;
  failure.exception = lastName(line.substr(0, colon));
  failure.message =
      std::string(trimmed(line.substr(std::min(colon + 1, line.size())))) + "\n" + joined(all.subspan(at + 1));
  return failure;
}

std::string tellingLine(std::string_view message) {
  const Lines lines = linesOf(message);
  const auto says = [](std::string_view line) { return !trimmed(line).empty(); };
  const auto first = std::ranges::find_if(lines, says);
  if (first == lines.end()) return {};
  std::string line(trimmed(*first));
  if (isTritonPlace(line)) line = std::string(trimmed(*std::ranges::find_if(lines.rbegin(), lines.rend(), says)));
  if (const auto error = compilerError(lines); !error.empty()) line = error;
  const std::string target = afterTarget(lines);
  return target.empty() || line.contains(target) ? line : fmt::format("{} (target: {})", line, target);
}

std::string lastTellingLine(std::string_view errors) {
  const Lines lines = linesOf(errors);
  bool shownByWarning = false;  // CPython prints the source of a warning below it
  std::string telling;
  for (const std::string_view line : lines) {
    const bool warns = line.contains("Warning: ") || line.contains("warning: ");
    const bool source = shownByWarning && line.starts_with("  ");
    shownByWarning = warns;
    const std::string_view shown = trimmed(line.substr(line.rfind('\r') + 1));  // a bar of progress draws over itself
    if (!warns && !source && !shown.empty()) telling = shown;
  }
  return telling;
}

std::string pythonFingerprint(const PythonFailure& failure) {
  std::string text = failure.exception.empty() ? "exception" : failure.exception;
  if (const auto line = maskedMessage(tellingLine(failure.message)); !line.empty()) text += ":" + line;
  if (!failure.frames.empty()) text += "@" + maskedMessage(failure.frames.front());
  return text;
}

}  // namespace kerf::inline minifier::inline oracle
