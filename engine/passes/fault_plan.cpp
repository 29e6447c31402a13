// FaultPlan: reading `--plant` values and matching them against call targets and pass names.
#include "engine/passes/fault_plan.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "engine/passes/pass_names.h"

namespace kerf::inline passes {

namespace {

struct KindName {
  FaultKind kind;
  std::string_view name;
};

constexpr std::array<KindName, 6> kindNames{{{FaultKind::Accuracy, "accuracy"},
                                             {FaultKind::CompileError, "compile_error"},
                                             {FaultKind::RuntimeError, "runtime_error"},
                                             {FaultKind::Crash, "crash"},
                                             {FaultKind::Hang, "hang"},
                                             {FaultKind::Flaky, "flaky"}}};

constexpr std::string_view kindList = "accuracy, compile_error, runtime_error, crash, hang, flaky:P (0 < P <= 1)";

std::string_view withoutPrefix(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

std::unexpected<Error> badFault(std::string_view text, std::string_view why) {
  return fail(ErrorCode::BadUsage,
              "cannot plant '{}': {}; write OP=KIND, OP+OP=KIND or pass:NAME=KIND, KIND one of {}, e.g. "
              "relu=accuracy",
              text, why, kindList);
}

bool isName(std::string_view text) {
  constexpr std::string_view legal = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return !text.empty() && text.find_first_not_of(legal) == std::string_view::npos;
}

/// "relu", or for ops "relu+sigmoid".
bool readSubject(std::string_view text, Fault& fault) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    names.emplace_back(text.substr(begin, end - begin));
    if (!isName(names.back())) return false;
    begin = end + 1;
  }
  fault.subject = names.front();
  fault.others.assign(names.begin() + 1, names.end());
  return !fault.onPass || fault.others.empty();
}

bool readProbability(std::string_view text, double& probability) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), probability);
  return error == std::errc{} && end == text.data() + text.size() && probability > 0 && probability <= 1;
}

}  // namespace

std::string_view faultKindName(FaultKind kind) {
  for (const KindName& row : kindNames) {
    if (row.kind == kind) return row.name;
  }
  return "unknown";
}

bool namesTarget(std::string_view op, std::string_view target) {
  const std::string_view wanted = withoutPrefix(op, "torch.ops.");
  const std::string_view called = withoutPrefix(target, "torch.ops.");
  if (wanted == called) return true;
  const std::size_t first = called.find('.');
  const std::size_t last = called.rfind('.');
  if (first == std::string_view::npos) return false;
  if (called.starts_with("torch.")) return wanted == called.substr(last + 1);  // torch.nn.functional.relu
  if (first == last) return wanted == called.substr(last + 1);
  return wanted == called.substr(0, last) || wanted == called.substr(first + 1, last - first - 1);
}

bool Fault::hits(std::string_view target) const { return !onPass && namesTarget(subject, target); }

std::string Fault::subjectText() const {
  std::string text = (onPass ? "pass:" : "") + subject;
  for (const std::string& other : others) text += "+" + other;
  return text;
}

const Fault* FaultPlan::forTarget(std::string_view target) const {
  for (const Fault& fault : faults) {
    if (fault.hits(target)) return &fault;
  }
  return nullptr;
}

const Fault* FaultPlan::forPass(std::string_view pass) const {
  for (const Fault& fault : faults) {
    if (fault.onPass && fault.subject == pass) return &fault;
  }
  return nullptr;
}

std::string FaultPlan::text() const {
  std::string text;
  for (const Fault& fault : faults) {
    if (!text.empty()) text += ',';
    text += fmt::format("{}={}", fault.subjectText(), faultKindName(fault.kind));
    if (fault.kind == FaultKind::Flaky) text += fmt::format(":{}", fault.probability);
  }
  return text;
}

Result<Fault> parseFault(std::string_view text) {
  Fault fault;
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return badFault(text, "there is no '='");
  std::string_view subject = text.substr(0, equals);
  std::string_view kind = text.substr(equals + 1);
  fault.onPass = subject.starts_with("pass:");
  subject = withoutPrefix(subject, "pass:");
  if (fault.onPass) subject = currentPassName(subject);
  if (!readSubject(subject, fault)) return badFault(text, "the op or pass name is missing or malformed");
  const std::size_t colon = kind.find(':');
  const std::string_view suffix = colon == std::string_view::npos ? "" : kind.substr(colon + 1);
  kind = kind.substr(0, colon);
  for (const KindName& row : kindNames) {
    if (row.name != kind) continue;
    fault.kind = row.kind;
    if (row.kind != FaultKind::Flaky && colon != std::string_view::npos) return badFault(text, "only flaky takes ':P'");
    if (row.kind == FaultKind::Flaky && !readProbability(suffix, fault.probability))
      return badFault(text, "flaky needs a probability");
    return fault;
  }
  return badFault(text, fmt::format("'{}' is not a fault kind", kind));
}

}  // namespace kerf::inline passes
