// Kerf's own parts, tried on a small graph and a small program with a store that is thrown away.
#include <fstream>

#include "app/cli/components.h"
#include "app/cli/doctor.h"
#include "engine/process/namespaces.h"
#include "engine/process/temporary_folder.h"

namespace kerf::cli {

namespace {

using State = DoctorRow::State;

constexpr std::string_view graph =
    "import torch\nclass Repro(torch.nn.Module):\n    def forward(self, arg0_1):\n"
    "        relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
    "        add = torch.ops.aten.add.Tensor(relu, relu);  relu = None\n"
    "        return (add,)\n\ndef load_args(reader):\n    buf0 = reader.storage(None, 32)\n"
    "    reader.tensor(buf0, (2, 4), is_leaf=True)  # arg0_1\nload_args._version = 0\nmod = Repro()\n"
    "if __name__ == '__main__':\n    from torch._dynamo.repro.after_aot import run_repro\n    with torch.no_grad():\n"
    "        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None)\n";
constexpr std::string_view program =
    "import torch\n@torch.compile\ndef f(x):\n    return torch.relu(x) + 1\nprint(f(torch.ones(2)).sum().item())\n";

struct Trial {
  TemporaryFolder folder;
  Workbench bench;

  std::string file(const std::string& name, std::string_view text) const {
    const auto path = folder.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
};

/// "works", or what an error says.
template <class Answer>
DoctorRow judged(DoctorRow row, const Result<Answer>& answer, const std::string& trouble) {
  if (answer && trouble.empty()) return row;
  row.state = State::Missing;
  row.found = answer ? trouble : answer.error().text();
  return row;
}

DoctorRow storeRow(const std::string& path) {
  Workbench own(WorkbenchOptions{path});
  const auto info = own.perform(StoreInfoRequest{});
  DoctorRow row{"store",
                State::Works,
                info ? info->store : "",
                "captures and results are kept",
                info ? "" : "name another file with --store or $KERF_STORE",
                true};
  return judged(std::move(row), info, "");
}

DoctorRow kernelsRow(Trial& trial) {
  RunRequest request;
  request.graph.text = trial.file("graph.py", graph);
  request.backend = "llvm";
  request.timeout = std::chrono::seconds(60);
  const auto report = trial.bench.perform(request);
  DoctorRow row{"LLVM",
                State::Works,
                fmt::format("{}; a graph was compiled and run", KERF_LLVM_VERSION),
                "graphs run as machine code",
                "",
                true};
  return judged(std::move(row), report, "");
}

DoctorRow programsRow(Trial& trial) {
  DoctorRow row{"Python for captures",
                State::Works,
                fmt::format("CPython {} inside of kerf; a program was captured", KERF_PYTHON),
                "`kerf capture` runs programs without PyTorch",
                "",
                false};
  const auto doc = trial.bench.perform(CaptureProgramRequest{.path = trial.file("program.py", program)});
  row = judged(std::move(row), doc, doc && doc->exitStatus != 0 ? doc->exception + " " + doc->errors : "");
  if (row.state != State::Works)
    row.get = "install libpython3.11 and libseccomp2, and use a kernel with seccomp filters";
  return row;
}

DoctorRow sandboxRow() {
  const auto& support = containmentSupport();
  DoctorRow row{"sandbox",
                State::Works,
                "PID namespaces, and the network can be taken away",
                "judging commands and candidates cannot outlive kerf",
                "",
                false};
  if (support.best == Containment::Namespace && support.noNetworkWhy.empty()) return row;
  row.state = State::Limited;
  row.found = support.best == Containment::Namespace
                  ? support.noNetworkWhy
                  : "a supervising process instead of a PID namespace: " + support.why;
  row.get =
      "allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1, or on Ubuntu "
      "kernel.apparmor_restrict_unprivileged_userns=0";
  return row;
}

}  // namespace

std::vector<DoctorRow> ownParts(const std::string& path) {
  std::vector<DoctorRow> rows{storeRow(path)};
  auto folder = TemporaryFolder::create();
  if (!folder) {
    rows.push_back({"temporary files", State::Missing, folder.error().text(), "graphs are compiled there",
                    "set $TMPDIR to a folder that can be written", true});
    return rows;
  }
  const std::string store = (folder->path() / "kerf.db").string();
  Trial trial{*std::move(folder), Workbench(WorkbenchOptions{store})};
  rows.push_back(kernelsRow(trial));
  rows.push_back(programsRow(trial));
  rows.push_back(sandboxRow());
  return rows;
}

}  // namespace kerf::cli
