#include "app/cli/oracle_options.h"

#include "app/cli/options.h"

namespace kerf::cli {

void addOracleOptions(CLI::App& command, workbench::OracleSettings& oracle) {
  command
      .add_option("--oracle", oracle.oracle,
                  "What decides whether a graph still fails: Kerf's engine, a command, or torch (your PyTorch)")
      ->check(CLI::IsMember({"engine", "command", "torch"}))
      ->capture_default_str();
  addPlantOption(command, oracle.plants, "engine: plant a fault in the compiled side, as for `kerf compare`");
  addAccuracyOptions(command, oracle.tolerance, oracle.accuracy, false, "engine: tolerance of same()");
  addPassOptions(command, oracle.passes);
  command
      .add_option("--check", oracle.check,
                  "command: gets the candidate's repro.py as its last argument. Exit 0 means good, 125 cannot be "
                  "tested, anything else (or a signal) bad")
      ->type_name("CMD");
  command.add_option("--python", oracle.python, "torch: the Python that has PyTorch")
      ->type_name("EXE")
      ->capture_default_str();
  command
      .add_option(
          "--import", oracle.imports,
          "torch: import this module, or load this library of ops (x.so), before candidates are judged; for custom ops "
          "whose launcher does not, since exports leave its own imports out; repro.py imports it as well (repeatable)")
      ->type_name("MODULE");
  command.add_option("--backend", oracle.torchBackend,
                     "engine: llvm, interp or cuda (default: llvm). torch: inductor, aot_eager, eager, another "
                     "backend of torch.compile, or package.module:function (default: as the capture says, else "
                     "inductor)");
  command
      .add_option(
          "--fails-if", oracle.torchCheck,
          "torch: what counts as a failure: exception, accuracy, strict_accuracy, nan, nondeterminism, or expr:TEXT, "
          "a Python expression over mod, args, compiled, ref, res and torch (auto: as the capture says)")
      ->capture_default_str();
  addTimeoutOption(command, oracle.timeout, "Seconds that one candidate may take");
  addCommandLimitOptions(command, oracle.limits);
  addAllowCallOption(command, oracle.allowedCalls);
}

}  // namespace kerf::cli
