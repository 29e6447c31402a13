// Small repro texts and temporary folders for the capture tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/capture/common/capture.h"

namespace kerf::testing {

/// A repro as PyTorch 2.11 writes it, around the given parts (each line with its indentation and newline).
inline std::string reproAround(const std::string& init, const std::string& forward, const std::string& loader) {
  return "\nimport torch\nfrom torch import tensor, device\nfrom math import inf\n\n# torch version: 2.11.0+cu130\n\n"
         "from torch.nn import *\nclass Repro(torch.nn.Module):\n    def __init__(self) -> None:\n"
         "        super().__init__()\n" +
         init + "\n\n\n" + forward + "\ndef load_args(reader):\n" + loader +
         "load_args._version = 0\nmod = Repro()\nif __name__ == '__main__':\n"
         "    from torch._dynamo.repro.after_aot import run_repro\n    with torch.no_grad():\n"
         "        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', "
         "check_str=None)\n"
         "        # To run it separately, do \n"
         "        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir=None, "
         "tracing_mode='real', check_str=None)\n"
         "        # mod(*args)";
}

/// forward(self, x) that returns relu(x), with `loader` for its one input.
inline std::string reluRepro(const std::string& loader) {
  return reproAround("",
                     "    def forward(self, x):\n        relu = torch.ops.aten.relu.default(x);  x = None\n"
                     "        return (relu,)\n",
                     loader);
}

inline void writeFile(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), std::streamsize(text.size()));
}

inline std::string readFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int counter = 0;
    m_path = std::filesystem::temp_directory_path() /
             ("kerf_capture_" + std::to_string(::getpid()) + "_" + std::to_string(counter++));
    std::filesystem::create_directories(m_path);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

}  // namespace kerf::testing
