// ProgramWrapper: the wrapper's statements, run one after the other: names, buffers, calls.
#pragma once

#include "engine/audit/meaning/kernel_texts.h"
#include "engine/audit/meaning/program_run.h"

namespace kerf::inline audit {

class ProgramWrapper {
 public:
  explicit ProgramWrapper(const RunContext& context)
      : m_context(context), m_kernels(kernelTexts(context.program.module)) {}

  RunOutcome run();

 private:
  // program_run.cpp: statements
  void stop(const SyntaxNode& node, std::string_view why);
  void block(const SyntaxNode& node);
  void statement(const SyntaxNode& node);
  void assign(const SyntaxNode& node);
  void bindInputs(const SyntaxNode& target);
  void expression(const SyntaxNode& node);
  /// What an operator returned lies as the program asserts.
  void layOut(const SyntaxNode& node);

  // program_values.cpp: expressions, buffers and views
  std::optional<Sizes> sizesOf(const SyntaxNode& node);
  RunValue evaluate(const SyntaxNode& node);
  RunValue numberOf(const SyntaxNode& node);
  RunValue named(const SyntaxNode& node);
  RunValue arithmetic(const SyntaxNode& node);
  RunValue extreme(const SyntaxNode& node, bool isMax);
  RunValue allocate(const SyntaxNode& node, std::size_t at);
  bool hasRoomFor(std::int64_t span);
  RunValue reinterpret(const SyntaxNode& node);
  RunValue fromValue(const Value& value);

  // program_calls.cpp: kernels and operators
  RunValue call(const SyntaxNode& node);
  int newCall(const SyntaxNode& node, std::string name);
  void reads(int call, const RunValue& value);
  void writes(int call, const RunValue& value);
  RunValue launch(ProgramKernel& kernel, const SyntaxNode& node);
  RunValue copyInto(const SyntaxNode& node);
  /// As inductor_seeds is drawn.
  RunValue drawSeeds(const SyntaxNode& node);
  /// `isWritten`: of an operator that writes into its operands.
  Result<Value> toValue(const RunValue& value, bool isWritten);
  static std::string targetOf(std::string callee);
  RunValue external(const SyntaxNode& node, const std::string& callee);
  RunValue finish(const SyntaxNode& node, int call, const std::string& target, std::string problem,
                  const ValueList& args, const KeywordValues& kwargs, std::vector<RunValue>& given,
                  const std::optional<RunValue>& out);
  void remember(const RunValue& value);

  const RunContext& m_context;
  std::map<std::string, ProgramKernel, std::less<>> m_kernels;
  RunOutcome m_outcome;
  std::map<std::string, RunValue, std::less<>> m_values, m_inputs;
  std::map<std::string, Value, std::less<>> m_pending;  ///< inputs that nothing has used yet
  std::set<std::string, std::less<>> m_inputNames;
  std::int64_t m_elements = 0;  ///< of buffers that were allocated, and may be gone
  bool m_hasReturned = false;
};

}  // namespace kerf::inline audit
