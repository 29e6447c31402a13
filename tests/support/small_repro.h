// A repro of one input, (2, 4) of zeros, for tests of what works on files.
#pragma once

#include <string>

namespace kerf::test {

/// The text of a repro.py around the lines of `forward` after its `def`, each with its indentation and newline.
inline std::string smallRepro(const std::string& forward) {
  return "import torch\nclass Repro(torch.nn.Module):\n    def forward(self, arg0_1):\n" + forward +
         "\ndef load_args(reader):\n    buf0 = reader.storage(None, 32)\n"
         "    reader.tensor(buf0, (2, 4), is_leaf=True)  # arg0_1\n"
         "load_args._version = 0\nmod = Repro()\nif __name__ == '__main__':\n"
         "    from torch._dynamo.repro.after_aot import run_repro\n    with torch.no_grad():\n"
         "        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None)\n";
}

/// forward() of a relu whose result is added to itself.
inline constexpr const char* reluForward =
    "        relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
    "        add = torch.ops.aten.add.Tensor(relu, relu);  relu = None\n"
    "        return (add,)\n";

}  // namespace kerf::test
