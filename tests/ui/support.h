// What the window tests share: waiting, sample paths, small graphs made by hand.
#pragma once

#include <functional>

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStringList>
#include <QTest>

#include "tests/support/patience.h"
#include "ui/session/documents.h"

namespace kerf::ui::test {

inline QString samplePath() { return QStringLiteral(KERF_SOURCE_DIR "/resources/samples/mlp8/minifier_launcher.py"); }

/// What a test, or a program that it starts, may take.
constexpr int patienceMs = int(std::chrono::milliseconds(kerf::test::patience).count());

/// Runs the event loop until `done`; whether it came true.
inline bool waitFor(const std::function<bool()>& done) { return QTest::qWaitFor(done, patienceMs); }

/// What `kerf` says with --json: the window is to say the same.
inline QJsonObject cliJson(const QStringList& arguments) {
  QProcess kerf;
  kerf.start(qEnvironmentVariable("KERF_CLI"), arguments + QStringList{"--json"});
  if (!kerf.waitForFinished(patienceMs)) return {};
  return QJsonDocument::fromJson(kerf.readAllStandardOutput()).object();
}

struct MadeNode {
  std::string name, op;
  std::vector<int> inputs;
  NodeKind kind = NodeKind::Pointwise;
};

/// A graph document without an engine: what models, scene and layouts need.
inline GraphDocPtr makeGraph(const std::vector<MadeNode>& nodes, const std::string& title = "made") {
  auto doc = std::make_shared<GraphDoc>();
  doc->title = title;
  for (const auto& made : nodes) {
    NodeDoc node;
    node.name = made.name;
    node.op = made.op;
    node.kind = made.kind;
    node.opcode = made.kind == NodeKind::Input    ? "placeholder"
                  : made.kind == NodeKind::Output ? "output"
                                                  : "call_function";
    node.target = node.opcode == "call_function" ? "torch.ops.aten." + made.op + ".default" : made.op;
    node.value = "f32[2, 2]";
    node.inputs = made.inputs;
    const int index = int(doc->nodes.size());
    for (const int input : made.inputs) doc->nodes[std::size_t(input)].users.push_back(index);
    doc->nodes.push_back(std::move(node));
  }
  doc->afterReading();
  return doc;
}

/// `count` calls in a chain with a skip edge every few nodes.
inline GraphDocPtr makeChain(int count) {
  std::vector<MadeNode> nodes{{"x", "x", {}, NodeKind::Input}};
  for (int i = 1; i < count; ++i) {
    std::vector<int> inputs{i - 1};
    if (i > 4 && i % 4 == 0) inputs.push_back(i - 4);
    nodes.push_back({"n" + std::to_string(i), i % 3 == 0 ? "relu" : "add", inputs});
  }
  return makeGraph(nodes, "chain");
}

}  // namespace kerf::ui::test
