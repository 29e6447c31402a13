// Fingerprints: masking of messages, and the kind of an accuracy failure.
#include "minifier/oracle/verdict_fingerprint.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kerf::inline minifier::inline oracle {

namespace {

constexpr std::size_t maxFingerprint = 200;

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "0x7f00" → "ADDR", "12" → "N", "relu_12" → "relu", "f32" and other words stay.
std::string maskedWord(std::string_view word) {
  if (word.starts_with("0x") && word.size() > 2) return "ADDR";
  if (std::ranges::all_of(word, isDigit)) return "N";
  std::size_t end = word.size();
  while (end > 0 && isDigit(word[end - 1])) --end;
  if (end < word.size() && end > 0 && word[end - 1] == '_') return std::string(word.substr(0, end - 1));
  return std::string(word);
}

enum class Difference { None, Magnitude, Inf, Nan, Shape, DType };
constexpr std::array<std::string_view, 6> DifferenceNames{"", "magnitude", "inf", "nan", "shape", "dtype"};

/// How same() begins to say that shapes and types fit and values do not.
constexpr std::array<std::string_view, 4> ValueReasons{"RMSE", "Accuracy failed", "IoU", "Similarity"};

Difference differenceOf(const OutputVerdict& output) {
  if (output.same) return Difference::None;
  if (output.reason.starts_with("dtype mismatch")) return Difference::DType;
  const auto begins = [&](std::string_view start) { return output.reason.starts_with(start); };
  if (!output.reason.empty() && std::ranges::none_of(ValueReasons, begins)) return Difference::Shape;
  if (output.nanRes != output.nanRef) return Difference::Nan;
  return output.infRes != output.infRef ? Difference::Inf : Difference::Magnitude;
}

/// NaN equals NaN, so a graph that drowns in it passes: worth saying.
std::string sameDetail(const ComparisonReport& report) {
  std::int64_t nans = 0;
  for (const OutputVerdict& output : report.outputs) nans += output.nanRef;
  if (nans == 0) return "all outputs are the same";
  return fmt::format("all outputs are the same, but {} elements are NaN on both sides and may hide a difference", nans);
}

}  // namespace

std::string maskedMessage(std::string_view text) {
  std::string masked;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && isWordCharacter(text[end])) ++end;
    if (end > i) {
      masked += maskedWord(text.substr(i, end - i));
      i = end;
    } else {
      masked += std::isspace(static_cast<unsigned char>(text[i])) ? ' ' : text[i];
      ++i;
    }
  }
  if (masked.size() > maxFingerprint) masked.resize(maxFingerprint);
  return masked;
}

std::string errorFingerprint(std::string_view phase, const Error& error) {
  return fmt::format("{}:{}:{}", phase, errorCodeName(error.code), maskedMessage(error.message));
}

std::string accuracyFingerprint(const ComparisonReport& report) {
  const auto gravest = [&](ResultKind kind) {
    Difference worst = Difference::None;
    for (const OutputVerdict& output : report.outputs)
      if (output.kind == kind) worst = std::max(worst, differenceOf(output));
    return DifferenceNames[std::size_t(worst)];
  };
  if (const auto name = gravest(ResultKind::Output); !name.empty()) return fmt::format("accuracy:{}", name);
  if (const auto name = gravest(ResultKind::Mutation); !name.empty()) return fmt::format("accuracy:mutation:{}", name);
  for (const ResultKind kind : {ResultKind::Alias, ResultKind::Strides})
    if (!gravest(kind).empty()) return fmt::format("accuracy:{}", resultKindName(kind));
  return report.same ? std::string() : "accuracy:shape";
}

std::string accuracyDetail(const ComparisonReport& report) {
  const OutputVerdict* worst = nullptr;
  for (const OutputVerdict& output : report.outputs) {
    if (!output.same && (!worst || output.ratioToLimit > worst->ratioToLimit)) worst = &output;
  }
  if (!worst && report.same) return sameDetail(report);
  if (!worst) return "the outputs differ in number";
  return fmt::format("{}: max error {:.3g}, {:.3g} times the limit; {}", worst->name, worst->maxAbsError,
                     worst->ratioToLimit, worst->reason);
}

}  // namespace kerf::inline minifier::inline oracle
