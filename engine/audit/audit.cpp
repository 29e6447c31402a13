#include "engine/audit/audit.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "engine/audit/meaning_claims.h"
#include "engine/audit/symbol_names.h"
#include "engine/audit/wrapper_run.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline audit {
namespace {

struct SymbolicRun {
  ClaimList claims;
  std::map<std::string, std::optional<std::int64_t>> symbols;  ///< with the example's values
  int calls = 0;
  std::size_t buffers = 0;
  bool isDone = false;
};

/// For all sizes: s2 and larger for symbols of inputs, any for those that data gives.
SymbolicRun runForAll(const OutputProgram& program, const AuditOptions& options) {
  SymbolicRun done;
  ShapeEnv env;
  const ShapeEnv::Scope scope(env);
  WrapperRun run(program, [&](const std::string& name, const std::string& input) {
    const auto example = program.examples.find(input);
    done.symbols[name] = example == program.examples.end() ? std::nullopt : example->second.number;
    ShapeSymbol symbol;
    symbol.name = name;
    symbol.range = {name.starts_with('u') ? 0 : 2, std::int64_t{1} << 40};
    return env.addSymbol(symbol);
  });
  if (std::ranges::none_of(program.examples, [](const auto& each) { return each.second.number.has_value(); }))
    run.compareExamples();
  done.isDone = run.run(options.progress);
  done.claims = run.claims();
  if (done.isDone && options.graph.module != nullptr) claimGraph(run.finished(), *options.graph.module, done.claims);
  done.calls = run.calls();
  done.buffers = run.buffers();
  return done;
}

/// The sizes of the example inputs lie within all guards: what fails for them is refuted.
void refineByExample(const OutputProgram& program, const AuditOptions& options, SymbolicRun& run) {
  std::string sizes;
  for (const auto& [name, value] : run.symbols) {
    if (!value) return;
    sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", name, *value);
  }
  WrapperRun example(
      program, [&](const std::string& name, const std::string&) { return SymInt(run.symbols.at(name).value_or(2)); });
  example.compareExamples();
  if (example.run(options.progress)) run.claims.refine(example.claims(), sizes);
}

AuditReport reportOfCppWrapper() {
  ClaimList claims;
  claims.add({ClaimAbout::Launch,
              ClaimVerdict::NotKnown,
              1,
              0,
              "the program",
              "its wrapper is C++, which is not read: neither its buffers nor its calls are known",
              {}});
  AuditReport report;
  claims.fill(report);
  return report;
}

}  // namespace

bool hasCppWrapper(std::string_view text) {
  static constexpr std::array<std::string_view, 3> marks = {"AOTInductorModel::run_impl(", "inductor_entry_impl(",
                                                            "AOTInductorModelContainer"};
  return std::ranges::any_of(marks, [&](std::string_view each) { return text.find(each) != std::string_view::npos; });
}

std::map<std::string, std::int64_t, std::less<>> exampleSizes(std::string_view text) {
  const OutputProgram program = readOutputProgram(text);
  std::map<std::string, std::int64_t, std::less<>> sizes;
  if (program.call == nullptr || program.call->items.size() < 2) return sizes;
  for (const SyntaxNode& node : program.call->items[1].items) {
    if (!node.is(SyntaxKind::Assign) || !node.items[0].is(SyntaxKind::Name) || !node.items[1].is(SyntaxKind::Name))
      continue;
    const auto example = program.examples.find(node.items[1].text);
    if (example != program.examples.end() && example->second.number)
      sizes[node.items[0].text] = *example->second.number;
  }
  return sizes;
}

Result<AuditReport> auditOutputCode(std::string_view text, const AuditOptions& options) {
  if (text.size() > options.mostBytes)
    return fail(ErrorCode::TooLarge, "the text has {} bytes; at most {} are read", text.size(), options.mostBytes);
  const OutputProgram program = readOutputProgram(text);
  if (program.call == nullptr && hasCppWrapper(text)) return reportOfCppWrapper();
  if (program.call == nullptr)
    return fail(ErrorCode::BadInput, "this is no output code of Inductor: it defines no `call`");
  try {
    SymbolicRun run = runForAll(program, options);
    if (!run.isDone) return fail(ErrorCode::Cancelled, "stopped");
    if (!run.symbols.empty()) {
      run.claims.doubtSizes();
      refineByExample(program, options, run);
    }
    claimSymbols(program, run.claims);
    if (options.graph.module != nullptr && !claimMeaning(program, options, run.claims))
      return fail(ErrorCode::Cancelled, "stopped");
    AuditReport report;
    run.claims.fill(report);
    report.kernels = int(program.kernels.size());
    report.calls = run.calls;
    report.buffers = int(run.buffers);
    return report;
  } catch (const SymbolicFailure& failure) {
    return fail(failure.error);
  }
}

}  // namespace kerf::inline audit
