#include "engine/support/error.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kerf::inline support {
namespace {

struct CodeRow {
  ErrorCode code;
  std::string_view name;
  int exit;
};

constexpr std::array<CodeRow, 12> codeTable{{
    {ErrorCode::BadUsage, "bad_usage", 2},
    {ErrorCode::BadInput, "bad_input", 2},
    {ErrorCode::NotFound, "not_found", 2},
    {ErrorCode::UnsupportedOp, "unsupported_op", 2},
    {ErrorCode::ShapeMismatch, "shape_mismatch", 2},
    {ErrorCode::TooLarge, "too_large", 2},
    {ErrorCode::CompileFailed, "compile_failed", 1},
    {ErrorCode::RuntimeFailed, "runtime_failed", 1},
    {ErrorCode::Different, "different", 1},
    {ErrorCode::Cancelled, "cancelled", 3},
    {ErrorCode::Environment, "environment", 3},
    {ErrorCode::Internal, "internal", 3},
}};

const CodeRow& row(ErrorCode code) { return codeTable.at(std::size_t(code)); }

}  // namespace

std::string_view errorCodeName(ErrorCode code) { return row(code).name; }

int exitCode(ErrorCode code) { return row(code).exit; }

Error::Error() = default;
Error::Error(ErrorCode code, std::string message, std::string file, int line, std::string node,
             std::vector<std::string> trail)
    : code(code),
      message(std::move(message)),
      file(std::move(file)),
      line(line),
      node(std::move(node)),
      trail(std::move(trail)) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

Error& Error::atFile(std::string path, int lineNumber) {
  if (file.empty()) file = std::move(path);
  if (line == 0) line = lineNumber;
  return *this;
}

Error& Error::atNode(std::string name) {
  if (node.empty()) node = std::move(name);
  return *this;
}

Error& Error::while_(std::string context) {
  trail.push_back(std::move(context));
  return *this;
}

Error& Error::advise(Advice advice, std::string subject) {
  hint = {advice, std::move(subject)};
  return *this;
}

std::string Error::text() const {
  std::string out;
  if (!file.empty()) out += line > 0 ? fmt::format("{}:{}: ", file, line) : fmt::format("{}: ", file);
  if (!node.empty()) out += fmt::format("node {}: ", node);
  out += message;
  if (!trail.empty()) out += fmt::format(" ({})", fmt::join(trail, "; "));
  return out;
}

Error formatError(ErrorCode code, fmt::string_view format, fmt::format_args arguments) {
  return {code, fmt::vformat(format, arguments)};
}

}  // namespace kerf::inline support
