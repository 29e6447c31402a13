// From two graphs to an entry of a matcher.
#include "engine/patterns/user_patterns.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "engine/ops/core/op_registry.h"
#include "engine/patterns/graph_pattern.h"
#include "engine/patterns/pattern_file.h"
#include "engine/patterns/replace_matches.h"
#include "engine/patterns/splice_replacement.h"
#include "engine/support/hash.h"

namespace kerf::inline patterns {

namespace {

bool holdsNodes(const Argument& value) {
  bool holds = false;
  forEachNode(value, [&holds](NodeId) { holds = true; });
  return holds;
}

/// Writes a number or list in the place of a placeholder, which goes.
Result<void> writeValue(Graph& graph, NodeId placeholder, const Argument& value) {
  const auto put = [&](const Argument& argument) {
    return mapNodes(argument, [&](NodeId node) { return node == placeholder ? value : Argument(node); });
  };
  for (const NodeId user : std::vector<NodeId>(graph.node(placeholder).users())) {
    ArgumentList args;
    for (const Argument& argument : graph.node(user).args()) args.push_back(put(argument));
    KeywordArguments kwargs;
    for (const auto& [name, argument] : graph.node(user).kwargs()) kwargs.emplace_back(name, put(argument));
    graph.setArgs(user, std::move(args));
    graph.setKwargs(user, std::move(kwargs));
  }
  return graph.eraseNode(placeholder);
}

/// The replacement at one place: numbers and lists in the place of arguments that stand for them, shapes as they are
/// there.
Result<GraphModule> replacementAt(const FilePattern& pattern, const MatchContext& context) {
  GraphModule module;
  module.graph = pattern.replace;
  Graph& graph = module.graph;
  for (const NodeId id : std::vector<NodeId>(graph.placeholders())) {
    const Argument* value = context.match.find(graph.node(id).name());
    if (const NodeId* given = value == nullptr ? nullptr : value->as<NodeId>()) {
      graph.setValueMeta(id, context.module.graph.node(*given).meta().value);
      continue;
    }
    if (value == nullptr || holdsNodes(*value))
      return fail(ErrorCode::BadInput, "{} stands for no tensor and no number here", graph.node(id).name());
    KERF_CHECK(writeValue(graph, id, *value));
  }
  KERF_CHECK(propagateShapes(module));
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

Result<void> checkGraphs(const FilePattern& pattern) {
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
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return fail(ErrorCode::NotFound, "cannot read the patterns in {}", path);
  return std::move(text).str();
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
