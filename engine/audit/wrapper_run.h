// WrapperRun: goes through the wrapper's statements once, for sizes that are symbols or numbers, and makes claims.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/audit/access/access_form.h"
#include "engine/audit/claim_list.h"
#include "engine/audit/graph_claims.h"
#include "engine/audit/program/output_program.h"
#include "engine/audit/run_state.h"

namespace kerf::inline audit {

/// The value of a symbol that the wrapper takes from its inputs, for this run.
using SymbolValue = std::function<SymInt(const std::string& name, const std::string& input)>;

class WrapperRun {
 public:
  WrapperRun(const OutputProgram& program, SymbolValue symbols) : m_program(program), m_symbols(std::move(symbols)) {}

  /// Layouts that get_args() gives inputs count: its sizes are those of this run.
  void compareExamples() { m_comparesExamples = true; }
  /// False: `progress` said stop.
  bool run(const std::function<bool(double)>& progress);
  const ClaimList& claims() const { return m_claims; }
  int calls() const { return m_calls; }
  std::size_t buffers() const { return m_state.storages.size(); }
  FinishedRun finished() const { return {m_state, m_returned, m_returnLine, m_hasBranched}; }

 private:
  using Names = std::map<std::string, WrapperValue, std::less<>>;

  // wrapper_run.cpp: statements
  bool block(const SyntaxNode& node);
  void statement(const SyntaxNode& node);
  void assign(const SyntaxNode& node);
  void expressionStatement(const SyntaxNode& node);
  void remove(const SyntaxNode& node);
  void condition(const SyntaxNode& node);
  void guarded(const SyntaxNode& node);
  void give(const SyntaxNode& node);
  void bind(const std::string& name, WrapperValue value);
  void bindInputs(const SyntaxNode& target);
  WrapperValue evaluate(const SyntaxNode& node);
  WrapperValue evaluateCall(const SyntaxNode& node);
  WrapperValue named(const SyntaxNode& node);
  WrapperValue itemOf(const SyntaxNode& node);
  std::optional<SymInt> sizeOf(const SyntaxNode& node);
  std::optional<std::vector<SymInt>> sizesOf(const SyntaxNode& node);
  std::optional<WrapperValue> callFunction(const SyntaxNode& node);
  WrapperValue runFunction(const SyntaxNode& function, WrapperValue arguments);
  void loseName(const std::string& name, int line);
  void finish(int line);
  void unknown(ClaimAbout about, int line, std::string subject, std::string reason);
  void refute(ClaimAbout about, int line, int other, std::string subject, std::string reason, std::string example = {});
  void settle(ClaimAbout about, std::optional<bool> holds, int line, const std::string& subject,
              const std::string& reason);

  // wrapper_buffers.cpp: allocations, views, assertions
  WrapperValue allocate(const SyntaxNode& node);
  WrapperValue reinterpret(const SyntaxNode& node);
  void assertLayout(const SyntaxNode& node);
  WrapperValue newResult(const std::string& name, int line);
  bool hasLayout(AuditTensor& tensor);

  // buffer_claims.cpp: reads and writes of boxes
  struct Touch {
    const WrapperValue* value = nullptr;
    ElementBox box;
    std::string subject;
    int line = 0;  ///< of the statement that is named
    bool isExact = true;
    bool hasData = false;
    std::optional<ElementBox> around;  ///< of what is not exact: all that it can reach
  };
  void claimRange(const KernelAccess& access, const AccessForm& form, int line, const std::string& subject);
  void claimInside(const AuditTensor& tensor, SymInt lowest, SymInt highest, bool isExact, int line,
                   const std::string& subject);
  void read(const Touch& touch);
  void write(const Touch& touch, bool marks);
  void readWhole(WrapperValue& value, int line, const std::string& subject);
  void writeWhole(WrapperValue& value, int line, const std::string& subject);

  // kernel_calls.cpp
  bool kernelCall(const SyntaxNode& node);
  struct BoundParameter {
    WrapperValue* value = nullptr;
    std::optional<SymInt> size;
    std::string name;
  };
  void launch(const KernelModel& kernel, const SyntaxNode& node, std::vector<BoundParameter>& bound);
  void access(const KernelModel& kernel, std::size_t index, const SyntaxNode& node, std::vector<BoundParameter>& bound);
  void claimOnce(const KernelModel& kernel, const KernelAccess& access, const AccessForm& form, int line,
                 const std::string& subject);
  struct PlacedForm {
    const KernelAccess* access = nullptr;
    const AccessForm* form = nullptr;
    SymInt offset;
  };
  void claimApart(const KernelModel& kernel, const PlacedForm& store, const PlacedForm& load, const SyntaxNode& node,
                  const std::string& subject);
  void claimOrder(const KernelModel& kernel, const SyntaxNode& node, const std::vector<BoundParameter>& bound,
                  const std::vector<AccessForm>& forms);
  void claimOrdered(const SyntaxNode& node, const std::vector<BoundParameter>& bound, const KernelModel& kernel);
  void noteStream(const SyntaxNode& node, const std::vector<BoundParameter>& bound, const KernelModel& kernel);
  void remarks(const KernelModel& kernel, const std::vector<BoundParameter>& bound, int line);
  void opaqueCall(const KernelModel& kernel, const SyntaxNode& node, std::vector<BoundParameter>& bound);
  const AccessForm& formOf(const KernelModel& kernel, std::size_t index, const std::vector<BoundParameter>& bound,
                           AccessForm& local);

  // extern_calls.cpp
  WrapperValue externCall(const SyntaxNode& node);
  void claimShapes(const std::string& name, const SyntaxNode& node, std::vector<WrapperValue>& values,
                   const WrapperValue* out);
  void collectTensors(const SyntaxNode& node, std::vector<WrapperValue>& into);
  WrapperValue* touched(const std::string& name);

  const OutputProgram& m_program;
  SymbolValue m_symbols;
  ClaimList m_claims;
  AuditState m_state;
  std::map<const KernelModel*, std::vector<std::optional<AccessForm>>> m_forms;
  std::map<const KernelModel*, bool> m_remarked;
  std::map<std::string, std::string, std::less<>> m_streams;  ///< by name: of which device
  std::string m_guard;                                        ///< the device that a guard around makes current
  const std::function<bool(double)>* m_progress = nullptr;
  WrapperValue m_returned;
  std::vector<std::unique_ptr<WrapperValue>> m_arguments;  ///< of the kernel that is called
  bool m_hasReturned = false, m_isStopped = false, m_isInputsBound = false, m_hasPools = false,
       m_comparesExamples = false, m_hasBranched = false;
  int m_time = 0, m_statement = 0, m_lastWork = -1, m_lastWorkLine = 0, m_calls = 0, m_depth = 0, m_branches = 0,
      m_returnLine = 0, m_waits = 0;
  std::size_t m_done = 0, m_statements = 1;
};

}  // namespace kerf::inline audit
