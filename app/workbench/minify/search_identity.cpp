#include "app/workbench/minify/search_identity.h"

#include <charconv>

#include <fmt/ranges.h>

#include "minifier/oracle/engine_oracle.h"

namespace kerf::workbench {

namespace {

constexpr std::string_view votesMark = " votes=", flakyMark = " flaky=", circumstancesMark = " [";

/// Other inputs are another search; the usual ones are not mentioned, so that older reductions are found again.
std::string inputsText(const GraphAddress& graph) {
  const bool usual = graph.inputs == GraphAddress::usualInputs && graph.seed == GraphAddress::usualSeed;
  return usual ? std::string() : fmt::format(" inputs={} seed={}", graph.inputs, graph.seed);
}

/// Takes "MARK<number>" from the beginning of `text`; 0 if it does not begin so.
int takeNumber(std::string_view& text, std::string_view mark) {
  int number = 0;
  if (!text.starts_with(mark)) return number;
  const auto [end, problem] = std::from_chars(text.data() + mark.size(), text.data() + text.size(), number);
  if (problem != std::errc()) return 0;
  text.remove_prefix(std::size_t(end - text.data()));
  return number;
}

/// Where the rule begins: circumstances end with a bracket, and whatever the oracle's own text has, they come last.
std::size_t ruleAt(std::string_view text) {
  const std::size_t bracket = text.find(std::string("]").append(votesMark));
  return bracket == std::string_view::npos ? text.rfind(votesMark) : bracket + 1;
}

}  // namespace

SearchIdentity SearchIdentity::of(const Oracle& oracle, const MinifyRequest& request, const FailureMatch& match) {
  std::string rest = inputsText(request.graph) + match.text();
  if (!request.pins.empty()) rest += fmt::format(" pins={}", fmt::join(request.pins, ","));
  return {oracle.identity(), oracle.circumstances(), {request.votes, request.flaky}, std::move(rest)};
}

std::string SearchIdentity::text() const {
  return fmt::format("{}{}{}{}{}{}", oracle, circumstances, votesMark, rule.votes,
                     rule.flakyStarts > 0 ? fmt::format("{}{}", flakyMark, rule.flakyStarts) : "", rest);
}

SearchIdentity SearchIdentity::parse(std::string_view text) {
  SearchIdentity identity;
  const std::size_t at = std::min(ruleAt(text), text.size());
  const std::string_view judge = text.substr(0, at);
  std::string_view rest = text.substr(at);
  const std::size_t brackets = judge.ends_with(']') ? judge.rfind(circumstancesMark) : std::string_view::npos;
  identity.oracle = judge.substr(0, brackets);
  if (brackets != std::string_view::npos) identity.circumstances = judge.substr(brackets);
  if (const int votes = takeNumber(rest, votesMark); votes > 0) identity.rule.votes = votes;
  identity.rule.flakyStarts = takeNumber(rest, flakyMark);
  identity.rest = rest;
  return identity;
}

std::string SearchIdentity::plants() const { return plantsOfIdentity(oracle); }

}  // namespace kerf::workbench
