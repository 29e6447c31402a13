// kerf certify and kerf recheck: what is no certificate, or no longer what it was given for.
#include "tests/support/cli_test.h"

#include <sys/stat.h>

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class CertificateTest : public CliTest {
 protected:
  fs::path certified(const std::string& graph) {
    const fs::path place = folder / "certificate.json";
    EXPECT_EQ(run({"certify", "-o", place.string(), "--", "compare", graph}).status, 0);
    return place;
  }
  fs::path changed(const fs::path& place, const std::function<void(json&)>& change) {
    json certificate = json::parse(textOf(place));
    change(certificate);
    return write("changed.json", certificate.dump());
  }
  int rechecked(const fs::path& place) { return run({"recheck", place.string()}).status; }
};

TEST_F(CertificateTest, HoldsForTheSameFilesOnly) {
  const auto graph = reluRepro();
  const auto place = certified(graph.string());
  EXPECT_EQ(json::parse(textOf(place))["files"].size(), 1u);
  EXPECT_EQ(rechecked(place), 0);
  EXPECT_EQ(rechecked(changed(place, [](json& c) { c["answer_sha256"] = std::string(64, '0'); })), 1);
  EXPECT_EQ(rechecked(changed(place, [](json& c) { c["exit_code"] = (std::int64_t{1} << 40) + 1; })), 2);
  std::string text = textOf(graph);
  text.replace(text.find("aten.relu"), 9, "aten.abs");
  write(graph.filename(), text);
  EXPECT_EQ(rechecked(place), 1);
  fs::remove(graph);
  const auto gone = run({"recheck", place.string()});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.errors, HasSubstr(graph.string()));
}

TEST_F(CertificateTest, SumsTheFileBehindAStage) {
  const auto graph = reluRepro();
  const auto place = certified(graph.string() + "@stage:aten");
  const json certificate = json::parse(textOf(place));
  ASSERT_EQ(certificate["files"].size(), 1u) << certificate;
  EXPECT_EQ(certificate["files"][0]["path"], graph.string());
}

TEST_F(CertificateTest, DevicesAndPipesAreRefusedAtOnce) {
  const auto place = certified(reluRepro().string());
  const auto pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& what : {std::string("/dev/zero"), pipe.string()}) {
    EXPECT_EQ(rechecked(what), 2) << what;
    EXPECT_EQ(rechecked(changed(place,
                                [&](json& c) {
                                  c["arguments"]["graph"] = what;
                                  c["files"] = json::array();
                                })),
              2)
        << what;
  }
}

}  // namespace
}  // namespace kerf::cli
