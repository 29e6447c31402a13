#include "engine/python/program.h"

#include "engine/process/answer_pipe.h"
#include "engine/process/in_child.h"
#include "engine/python/interpreter.h"
#include "engine/python/sandbox.h"

namespace kerf::inline python {
namespace {

/// The user's variables (tokens, paths) are not the program's. Libraries have read theirs by now.
Result<void> forgetEnvironment() {
  KERF_CHECK(checked(PyRun_String("__import__('os').environ.clear() or __import__('posix').environ.clear()",
                                  Py_eval_input, PyEval_GetBuiltins(), PyEval_GetBuiltins())));
  return {};
}

Result<ProgramAnswer> runHere(const ProgramRequest& request, const ProgramEnvironment& environment,
                              const EncodeAnswer& encode) {
  programOutput().limit = request.limits.outputBytes;
  KERF_CHECK(startInterpreter(environment));
  KERF_CHECK(forgetEnvironment());
  if (!refuseInPython()) return fail(ErrorCode::Environment, "CPython takes no audit hook");
  KERF_CHECK(enterSandbox(answerPipe()));
  auto answer = executeProgram(request, encode);
  if (environment.finish) environment.finish();
  return answer;
}

}  // namespace

Result<ProgramAnswer> runProgram(const ProgramRequest& request, const ProgramEnvironment& environment,
                                 const EncodeAnswer& encode, std::stop_token stop) {
  const std::function<Result<ProgramAnswer>()> body = [&] { return runHere(request, environment, encode); };
  IsolationLimits limits;
  limits.timeout = request.limits.timeout;
  limits.memoryBytes = request.limits.memoryBytes;
  limits.fileBytes = 0;
  auto answer = inChild(body, limits, std::move(stop), "the program", ErrorCode::RuntimeFailed);
  if (!answer && answer.error().code == ErrorCode::Cancelled)
    return fail(ErrorCode::Cancelled, "stopped while the program was running");
  return answer;
}

}  // namespace kerf::inline python
