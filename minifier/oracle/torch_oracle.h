// TorchOracle: the user's own PyTorch judges candidates, each in a fork of one process that has torch imported and
// warm.
#pragma once

#include "engine/capture/common/capture.h"
#include "minifier/oracle/torch_answer.h"
#include "minifier/oracle/torch_worker.h"

namespace kerf::inline minifier::inline oracle {

struct TorchOracleOptions {
  TorchWorkerOptions worker;
  /// A backend of torch.compile, or "package.module:function". Empty: what the capture's run_repro names, else
  /// inductor.
  std::string backend;
  /// What is a failure: "exception" (while compiling or running), "accuracy" and "strict_accuracy" (same_two_models,
  /// and exceptions), "nan", "nondeterminism", "expr:TEXT" (a Python expression over mod, args, compiled, ref, res,
  /// torch). "auto": what the capture's run_repro says.
  std::string check = "auto";
  std::chrono::milliseconds timeout{120'000};  ///< of one query
};

class TorchOracle : public Oracle {
 public:
  /// Waits until torch is warm. Candidates are written with `like`'s configuration and runner around them. Errors: as
  /// TorchWorker::start.
  static Result<std::unique_ptr<TorchOracle>> start(TorchOracleOptions options, Capture like, std::size_t graphIndex,
                                                    const std::stop_token& stop);
  /// By a worker that is warm: one that sees a GPU where needsGpu() says so.
  static std::unique_ptr<TorchOracle> with(std::shared_ptr<TorchWorker> worker, TorchOracleOptions options,
                                           Capture like, std::size_t graphIndex);
  Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override;
  std::string identity() const override;
  std::string circumstances() const override;

  /// All that the worker found, with the candidate in `like`'s configuration and runner. BadInput when it cannot be
  /// exported.
  Result<TorchAnswer> answer(const Candidate& candidate, const Capture& like, const std::stop_token& stop);
  /// The worker's line of JSON on another operation of its: "judge", "bisect".
  Result<std::string> ask(std::string_view operation, const Candidate& candidate, const Capture& like,
                          const std::stop_token& stop);
  const Capture& like() const { return m_like; }
  const std::string& torchVersion() const { return m_worker->torchVersion(); }

 private:
  TorchOracle(TorchOracleOptions options, Capture like, std::size_t graphIndex, std::shared_ptr<TorchWorker> worker);
  TorchOracleOptions m_options;
  Capture m_like;
  std::size_t m_graphIndex;
  std::shared_ptr<TorchWorker> m_worker;
};

/// Whether PyTorch's text of the graph puts anything on a GPU.
bool needsGpu(const Capture& capture, std::size_t graphIndex);

}  // namespace kerf::inline minifier::inline oracle
