#include "engine/capture/trace/symbol_facts.h"

#include <unordered_set>

#include <fmt/ranges.h>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t mostExpressions = 100'000, mostArguments = 64, mostSteps = 100, mostLocals = 200;

SymbolFact fact(const StoryRecord& record, std::string kind, std::string subject) {
  SymbolFact made;
  made.kind = std::move(kind);
  made.subject = std::move(subject);
  made.user = record.stack("user_stack");
  made.framework = record.stack("stack");
  made.line = record.line();
  return made;
}

void add(const StoryRecord& record, SymbolFact made) {
  const std::size_t bytes = made.subject.size() + made.source.size() + 4 * (made.user.size() + made.framework.size());
  if (!made.subject.empty()) record.add(record.story.symbols, std::move(made), bytes);
}

/// ["L['x'].size()[0]"] as text.
std::string sourcesOf(const StoryRecord& record) {
  std::vector<std::string> texts;
  JsonWalker sources(jsonMember(record.header.value, "sources"));
  while (texts.size() < 20 && sources.nextElement()) texts.push_back(jsonText(sources.value(), 200));
  return fmt::format("{}", fmt::join(texts, ", "));
}

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields fieldsOf(std::string_view object) {
  Fields fields;
  JsonWalker members(object);
  while (fields.size() < mostLocals && members.nextMember())
    if (members.value() != "null")
      fields.emplace_back(clippedText(jsonString(members.key()).value_or(""), 200), jsonText(members.value()));
  return fields;
}

/// How an expression came to be: the steps before it come first.
class Steps {
 public:
  explicit Steps(const StoryRecord& record) : m_record(record) {}

  std::vector<std::string> to(std::int64_t number) {
    visit(number, 0);
    return std::move(m_lines);
  }

 private:
  void visit(std::int64_t number, int depth) {
    const auto found = m_record.expressions.find(number);
    if (found == m_record.expressions.end() || depth > 50 || m_lines.size() >= mostSteps ||
        !m_seen.insert(number).second)
      return;
    const LoggedExpression& step = found->second;
    for (const std::int64_t argument : step.arguments) visit(argument, depth + 1);
    std::string line = step.method.empty() ? step.text : fmt::format("{} ({})", step.text, step.method);
    if (!step.user.empty()) {
      line += " at " + m_record.log.innermost(step.user);
      const LogFrame& frame = m_record.log.frames.frame(step.user.back());
      if (!frame.code.empty()) line += ": " + frame.code;
    }
    m_lines.push_back(std::move(line));
  }

  const StoryRecord& m_record;
  std::unordered_set<std::int64_t> m_seen;
  std::vector<std::string> m_lines;
};

void addProblem(const StoryRecord& record, ExportProblem problem) {
  problem.line = record.line();
  std::size_t bytes =
      problem.subject.size() + problem.reason.size() + 4 * (problem.user.size() + problem.framework.size());
  for (const auto& [name, value] : problem.locals) bytes += name.size() + value.size();
  for (const std::string& step : problem.origin) bytes += step.size();
  record.add(record.story.exports, std::move(problem), bytes);
}

void addSizeProblem(const StoryRecord& record, std::string kind, std::string reason) {
  ExportProblem problem;
  problem.kind = std::move(kind);
  problem.subject = record.text("expr");
  problem.reason = std::move(reason);
  problem.user = record.stack("user_stack");
  problem.framework = record.stack("stack");
  problem.locals = fieldsOf(jsonMember(jsonMember(record.header.value, "frame_locals"), "locals"));
  problem.sources = fieldsOf(jsonMember(record.header.value, "symbol_to_sources"));
  if (const auto number = jsonInteger(jsonMember(record.header.value, "expr_node_id")))
    problem.origin = Steps(record).to(*number);
  addProblem(record, std::move(problem));
}

void addKernelProblem(const StoryRecord& record, std::string kind, std::string reason) {
  ExportProblem problem;
  problem.kind = std::move(kind);
  problem.subject = record.text("op");
  problem.reason = std::move(reason);
  problem.framework = record.log.frames.read(record.header.stack, record.files);
  addProblem(record, std::move(problem));
}

void keepExpression(const StoryRecord& record, std::string_view number, LoggedExpression expression) {
  const auto id = jsonInteger(jsonMember(record.header.value, number));
  if (!id || record.expressions.size() >= mostExpressions) return;
  if (record.budget.take(expression.text.size() + sizeof(LoggedExpression)))
    record.expressions[*id] = std::move(expression);
}

}  // namespace

void takeCreatedSymbol(const StoryRecord& record) {
  SymbolFact made = fact(record, "created", record.text("symbol"));
  made.value = record.text("val");
  made.range = record.text("vr");
  made.source = record.text("source");
  add(record, std::move(made));
}

void takeUnbackedSymbol(const StoryRecord& record) {
  SymbolFact made = fact(record, "unbacked", record.text("symbol"));
  made.range = record.text("vr");
  keepExpression(record, "node_id", {made.subject, "", {}, made.user});
  add(record, std::move(made));
}

void takeSpecialised(const StoryRecord& record) {
  SymbolFact made = fact(record, "specialised", record.text("symbol"));
  made.value = record.text("value");
  made.source = sourcesOf(record);
  made.reason = record.text("reason");
  add(record, std::move(made));
}

void takeAddedGuard(const StoryRecord& record) {
  add(record, fact(record, "guard", record.text("expr")));
  if (record.text("prefix") == "eval")
    addSizeProblem(record, "guard evaluated", "export needed to know it, and fixed it as a guard");
}

void takeGuess(const StoryRecord& record) {
  SymbolFact made = fact(record, "guessed", record.text("expr"));
  made.value = record.text("result");
  add(record, std::move(made));
  addSizeProblem(record, "data-dependent error",
                 fmt::format("nothing tells whether it holds; {} was taken from real data, and asserted in the graph",
                             record.text("result")));
}

void takeExpression(const StoryRecord& record) {
  LoggedExpression made{record.text("result"), record.text("method"), {}, record.stack("user_stack")};
  JsonWalker arguments(jsonMember(record.header.value, "argument_ids"));
  while (made.arguments.size() < mostArguments && arguments.nextElement())
    if (const auto number = jsonInteger(arguments.value())) made.arguments.push_back(*number);
  keepExpression(record, "result_id", std::move(made));
}

void takeMissingKernel(const StoryRecord& record) {
  addKernelProblem(record, "missing fake kernel",
                   "the operator has none: register one with torch.library.register_fake");
}

void takeMismatchedKernel(const StoryRecord& record) {
  addKernelProblem(record, "mismatched fake kernel", record.text("reason"));
}

}  // namespace kerf::inline capture::trace
