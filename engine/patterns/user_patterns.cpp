// From two graphs to an entry of a matcher.
#include "engine/patterns/user_patterns.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "engine/ir/symbolic_trace.h"
#include "engine/ops/core/op_registry.h"
#include "engine/patterns/graph_pattern.h"
#include "engine/patterns/pattern_file.h"
#include "engine/patterns/replace_matches.h"
#include "engine/patterns/splice_replacement.h"
#include "engine/support/hash.h"

namespace kerf::inline patterns {

namespace {

constexpr std::size_t mostBytes = 4'000'000;  ///< of a file
constexpr std::size_t mostNodes = 1'000;      ///< of a graph in it: matching goes as deep

/// The replacement at one place: numbers and lists in the place of arguments that stand for them, shapes as they are
/// there.
Result<GraphModule> replacementAt(const FilePattern& pattern, const MatchContext& context) {
  GraphModule module;
  module.graph = pattern.replace;
  TraceRules rules;
  for (const NodeId id : module.graph.placeholders()) {
    const std::string& name = module.graph.node(id).name();
    const Argument* value = context.match.find(name);
    if (value == nullptr) return fail(ErrorCode::BadInput, "{} stands for nothing here", name);
    if (const NodeId* given = value->as<NodeId>())
      module.graph.setValueMeta(id, context.module.graph.node(*given).meta().value);
    else
      rules.concreteArguments.emplace(name, *value);
  }
  KERF_TRY(module, symbolicTrace(module, rules));
  KERF_CHECK(propagateShapes(module));
  const Graph& graph = module.graph;
  for (const NodeId id : graph.order())
    if (const Node& node = graph.node(id); node.op() == Opcode::CallFunction && !node.meta().value.known())
      return fail(ErrorCode::UnsupportedOp, "the shape of {} ({}) is not known", node.name(), node.target());
  return module;
}

std::string refusal(const FilePattern& pattern, const MatchContext& context) {
  const auto replacement = replacementAt(pattern, context);
  if (!replacement) return fmt::format("the replacement does not fit here: {}", replacement.error().message);
  const auto checked = checkReplacement(context.module, context.match, *replacement);
  return checked ? "" : checked.error().message;
}

Result<std::vector<NodeId>> replaceAt(const FilePattern& pattern, const MatchContext& context) {
  KERF_TRY(const GraphModule replacement, replacementAt(pattern, context));
  return spliceReplacement(context.module, context.match, replacement);
}

std::size_t resultCount(const Graph& graph) {
  const ListArgument* list = graph.node(graph.outputNode()).args()[0].asList();
  return list == nullptr ? 1 : list->items.size();
}

/// What a search graph returns is replaced: each must be a call, and so small that it can be matched call by call.
Result<void> checkSearch(const FilePattern& pattern) {
  for (const Graph* graph : {&pattern.search, &pattern.replace})
    if (graph->size() > mostNodes)
      return fail(ErrorCode::TooLarge, "line {}: a graph of pattern {} has {} nodes; {} are allowed", pattern.line,
                  pattern.name, graph->size(), mostNodes);
  const Argument& value = pattern.search.node(pattern.search.outputNode()).args()[0];
  const ListArgument* list = value.asList();
  for (const Argument& result : list == nullptr ? ArgumentList{value} : list->items) {
    const NodeId* node = result.as<NodeId>();
    if (node == nullptr || pattern.search.node(*node).op() != Opcode::CallFunction)
      return fail(ErrorCode::BadInput, "line {}: pattern {} returns something that is not a call", pattern.line,
                  pattern.name);
  }
  return {};
}

Result<void> checkGraphs(const FilePattern& pattern) {
  for (const Graph* graph : {&pattern.search, &pattern.replace})
    if (!graph->outputNode().valid() || graph->node(graph->outputNode()).args().empty())
      return fail(ErrorCode::BadInput, "line {}: a graph of pattern {} returns nothing", pattern.line, pattern.name);
  KERF_CHECK(checkSearch(pattern));
  std::set<std::string> names;
  for (const NodeId id : pattern.search.placeholders()) names.insert(pattern.search.node(id).name());
  for (const NodeId id : pattern.replace.placeholders())
    if (const std::string& name = pattern.replace.node(id).name(); !names.contains(name))
      return fail(ErrorCode::BadInput,
                  "line {}: the replacement of pattern {} has an argument {}, its search graph not", pattern.line,
                  pattern.name, name);
  const std::size_t searched = resultCount(pattern.search), replaced = resultCount(pattern.replace);
  if (searched == replaced) return {};
  return fail(ErrorCode::BadInput, "line {}: pattern {} has {} result{}, its replacement {}", pattern.line,
              pattern.name, searched, searched == 1 ? "" : "s", replaced);
}

Result<PatternEntry> entryOf(FilePattern given) {
  KERF_CHECK(checkGraphs(given));
  auto pattern = patternOf(given.search);
  if (!pattern) return fail(ErrorCode::BadInput, "line {}: {}", given.line, pattern.error().message);
  PatternEntry entry{.name = given.name, .description = given.description, .pattern = std::move(*pattern)};
  const auto shared = std::make_shared<const FilePattern>(std::move(given));
  entry.checks.push_back([shared](const MatchContext& context) { return refusal(*shared, context); });
  entry.replace = [shared](const MatchContext& context) { return replaceAt(*shared, context); };
  return entry;
}

Result<std::string> textOf(const std::string& path) {
  std::error_code unknown;
  if (const auto there = std::filesystem::status(path, unknown); exists(there) && !is_regular_file(there))
    return fail(ErrorCode::BadInput, "{} is not a regular file", path);
  std::ifstream file(path, std::ios::binary);
  std::string text(mostBytes + 1, '\0');
  if (file) file.read(text.data(), std::streamsize(text.size()));
  if (file.bad() || (file.fail() && !file.eof()))
    return fail(ErrorCode::NotFound, "cannot read the patterns in {}", path);
  text.resize(std::size_t(file.gcount()));
  if (text.size() <= mostBytes) return text;
  return fail(ErrorCode::TooLarge, "{} is larger than {} bytes; that is not a file of patterns", path, mostBytes);
}

Result<void> run(GraphModule& module, const PassContext& context) {
  const auto path = context.options.value<std::string>("file");
  if (path.empty()) return {};
  KERF_TRY(const std::string text, textOf(path));
  const auto digest = context.options.value<std::string>("digest");
  if (!digest.empty() && digest != hashText(text).hex())
    return fail(ErrorCode::BadInput, "{} was changed while it was used", path);
  KERF_TRY(const PatternMatcherPass matcher, userMatcher(text));
  return replaceMatches(matcher, module);
}

}  // namespace

Result<PatternMatcherPass> userMatcher(std::string_view text) {
  KERF_TRY(std::vector<FilePattern> patterns, parsePatternFile(text));
  PatternMatcherPass matcher;
  std::set<std::string> names;
  for (FilePattern& pattern : patterns) {
    if (!names.insert(pattern.name).second)
      return fail(ErrorCode::BadInput, "line {}: there is a pattern {} already", pattern.line, pattern.name);
    KERF_TRY(PatternEntry entry, entryOf(std::move(pattern)));
    matcher.add(std::move(entry));
  }
  return matcher;
}

Result<PatternFileContent> readPatternFile(const std::string& path) {
  KERF_TRY(const std::string text, textOf(path));
  auto matcher = userMatcher(text);
  if (!matcher) return fail(matcher.error().code, "{}: {}", path, matcher.error().message);
  return PatternFileContent{std::move(*matcher), hashText(text).hex()};
}

Pass userPatternsPass() {
  return {.name = "user_patterns",
          .stage = PassStage::Joint,
          .description = "Replaces what the user's own patterns match.",
          .options = {{"file", std::string(), "File of patterns, a search graph and a replacement each."},
                      {"digest", std::string(), "Hash that the file must have; any, if empty."}},
          .run = run};
}

}  // namespace kerf::inline patterns
