// The checks of a replacement: the second trace, with the shapes of the place.
#include "engine/patterns/register_replacement.h"

#include <algorithm>

#include "engine/patterns/splice_replacement.h"

namespace kerf::inline patterns {

namespace {

PatternInputs searchInputs(const ReplacementRule& rule) {
  PatternInputs inputs = rule.exampleInputs;
  for (const auto& [name, value] : rule.scalarWorkaround) inputs.push_back({name, std::nullopt, value});
  return inputs;
}

/// The rule's inputs as they are at one place: metas of nodes, numbers.
Result<PatternInputs> inputsAt(const ReplacementRule& rule, const MatchContext& context) {
  PatternInputs inputs = searchInputs(rule);
  for (PatternInput& input : inputs) {
    const Argument* value = context.match.find(input.name);
    if (value == nullptr) return fail(ErrorCode::BadInput, "the pattern gives {} no value", input.name);
    const NodeId* node = value->as<NodeId>();
    if (node == nullptr) {
      input.tensor.reset();
      input.value = *value;
      continue;
    }
    const Node& given = context.module.graph.node(*node);
    const TensorMeta* meta = given.meta().value.tensor();
    if (meta == nullptr)
      return fail(ErrorCode::BadInput, "{} ({}) is not a tensor of known shape", given.name(), input.name);
    const bool trained = input.tensor && input.tensor->requiresGrad;
    input.tensor = *meta;
    input.tensor->requiresGrad = trained;
  }
  return inputs;
}

/// Empty where the pattern, traced with the shapes of the place, fits it exactly.
std::string exactMismatch(const ReplacementRule& rule, const MatchContext& context) {
  const auto inputs = inputsAt(rule, context);
  if (!inputs) return inputs.error().message;
  const auto traced = tracePattern(rule.search, *inputs, rule.trace);
  if (!traced)
    return fmt::format("the pattern cannot be traced with the shapes found here: {}", traced.error().message);
  const auto pattern = patternOf(traced->module.graph, {.exclusive = rule.exclusiveArgNames});
  if (!pattern) return pattern.error().message;
  const auto match = matchPattern(context.module.graph, *pattern, context.anchor);
  if (match) return {};
  return fmt::format("with the shapes found here the pattern is another one: {}", match.error().reason);
}

Result<TracedPattern> traceReplacement(const ReplacementRule& rule, const PatternInputs& inputs) {
  return tracePattern(rule.replace, inputs, rule.trace,
                      rule.keepsOps ? DecompositionTable::None : DecompositionTable::Inductor);
}

std::string replacementError(const ReplacementRule& rule, const MatchContext& context) {
  const auto inputs = inputsAt(rule, context);
  if (!inputs) return inputs.error().message;
  const auto traced = traceReplacement(rule, *inputs);
  if (!traced)
    return fmt::format("the replacement cannot be traced with the shapes found here: {}", traced.error().message);
  const auto checked = checkReplacement(context.module, context.match, traced->module);
  return checked ? "" : checked.error().message;
}

Result<std::vector<NodeId>> replaceAt(const ReplacementRule& rule, const MatchContext& context) {
  KERF_TRY(const PatternInputs inputs, inputsAt(rule, context));
  KERF_TRY(const TracedPattern traced, traceReplacement(rule, inputs));
  return spliceReplacement(context.module, context.match, traced.module);
}

}  // namespace

Result<TracedPattern> traceSearch(const ReplacementRule& rule) {
  return tracePattern(rule.search, searchInputs(rule), rule.trace);
}

Result<bool> registerReplacement(PatternMatcherPass& pass, ReplacementRule rule, const Graph* searchGraph) {
  std::optional<TracedPattern> traced;
  if (searchGraph == nullptr) {
    KERF_TRY(traced, traceSearch(rule));
    searchGraph = &traced->module.graph;
  }
  KERF_TRY(Pattern pattern,
           patternOf(*searchGraph,
                     {.ignoresNumbers = true, .scalars = rule.scalarWorkaround, .exclusive = rule.exclusiveArgNames}));
  if (pass.has(*pattern)) {
    if (rule.skipDuplicates) return false;
    return fail(ErrorCode::BadUsage, "pattern {} is one that another rule has", rule.name);
  }
  const auto shared = std::make_shared<const ReplacementRule>(std::move(rule));
  PatternEntry entry{.name = shared->name, .description = shared->description, .pattern = std::move(pattern)};
  entry.checks.push_back([shared](const MatchContext& context) { return exactMismatch(*shared, context); });
  if (shared->extraCheck) entry.checks.push_back(shared->extraCheck);
  entry.checks.push_back([shared](const MatchContext& context) { return replacementError(*shared, context); });
  entry.replace = [shared](const MatchContext& context) { return replaceAt(*shared, context); };
  pass.add(std::move(entry));
  return true;
}

Result<bool> registerReplacement(std::span<PatternMatcherPass* const> passes, const ReplacementRule& rule) {
  KERF_TRY(const TracedPattern traced, traceSearch(rule));
  bool added = false;
  for (PatternMatcherPass* const pass : passes) {
    KERF_TRY(const bool isNew, registerReplacement(*pass, rule, &traced.module.graph));
    added = added || isNew;
  }
  return added;
}

}  // namespace kerf::inline patterns
