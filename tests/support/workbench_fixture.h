// WorkbenchTest: a folder and store of its own, the bundled sample, and a remote workbench on the built kerf.
#pragma once

#include <chrono>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/workbench/protocol/remote_workbench.h"
#include "engine/process/temporary_folder.h"
#include "tests/support/patience.h"
#include "tests/support/processes.h"

namespace kerf::workbench {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::childrenOf, test::lives, test::waitUntil, test::workersOf;

class WorkbenchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    m_folder.emplace(TemporaryFolder::create().value());
    ASSERT_TRUE(fs::exists(kerf)) << "build the target kerf first";
    setenv("TMPDIR", scratch().c_str(), 1);
    fs::create_directories(scratch());
  }
  void TearDown() override { unsetenv("TMPDIR"); }

  fs::path folder() const { return m_folder->path(); }
  /// Where temporary folders of this test go.
  fs::path scratch() const { return folder() / "scratch"; }
  std::string store() const { return (folder() / "kerf.db").string(); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder() / name, std::ios::binary) << text;
    return folder() / name;
  }
  bool scratchIsEmpty() const { return fs::is_empty(scratch()); }

  const fs::path kerf = fs::path(KERF_BINARY_DIR) / "bin/kerf";
  const std::string sample = std::string(KERF_SOURCE_DIR) + "/resources/samples/mlp8/minifier_launcher.py";

 private:
  std::optional<TemporaryFolder> m_folder;
};

}  // namespace kerf::workbench
