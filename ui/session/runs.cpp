#include "ui/session/runs.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace kerf::ui::inline session {
namespace {

constexpr int throttleMs = 50;

/// JSON has no inf or nan: the command prints them as strings or null.
double number(const QJsonValue& value) {
  if (value.isDouble()) return value.toDouble();
  const auto text = value.toString();
  if (text == "inf" || text == "Infinity") return std::numeric_limits<double>::infinity();
  return value.isUndefined() ? 0 : std::numeric_limits<double>::quiet_NaN();
}

OutputRow outputRow(const QJsonObject& row) {
  return {row["name"].toString(),        row["reason"].toString(),       row["same"].toBool(),
          number(row["max_abs_error"]),  number(row["rmse_res"]),        number(row["rmse_ref"]),
          number(row["ratio_to_limit"]), qint64(number(row["nan_res"])), qint64(number(row["inf_res"]))};
}

NodeRow nodeRow(const QJsonObject& row) {
  return {row["node"].toString(),    row["target"].toString(),     row["same"].toBool(),
          row["first_bad"].toBool(), number(row["max_abs_error"]), number(row["rmse_res"]),
          number(row["rmse_ref"]),   number(row["ratio_to_limit"])};
}

}  // namespace

AccuracyDoc readAccuracy(const QByteArray& json) {
  AccuracyDoc doc;
  const auto object = QJsonDocument::fromJson(json).object();
  if (object.isEmpty()) doc.error = "kerf compare printed no result";
  if (object.contains("error")) doc.error = object["error"].toObject()["message"].toString(object["error"].toString());
  doc.same = object["same"].toBool();
  doc.failure = object["failure"].toString();
  if (doc.failure.isEmpty()) doc.failure = object["nodes_failure"].toString();
  for (const auto& row : object["outputs"].toArray()) doc.outputs.push_back(outputRow(row.toObject()));
  for (const auto& row : object["nodes"].toArray()) {
    doc.nodes.push_back(nodeRow(row.toObject()));
    doc.nodeIndex.insert(doc.nodes.back().node, int(doc.nodes.size()) - 1);
  }
  return doc;
}

CompareRun::CompareRun(const QString& graph, const QString& plant, const QStringList& symbols, const QString& store)
    : m_arguments{"compare", graph, "--nodes", "--json"}, m_plant(plant) {
  if (!store.isEmpty()) m_arguments << "--store" << store;
  if (!plant.isEmpty()) m_arguments << "--plant" << plant;
  for (const auto& symbol : symbols) m_arguments << "--sym" << symbol;
  connect(&m_process, &CliProcess::line, this, [this](const QByteArray& text) { m_output += text; });
  connect(&m_process, &CliProcess::finished, this,
          [this](int, const QString& problem) { emit finished(m_output, problem, m_process.cancelled()); });
}

MinifyRun::MinifyRun(const QString& graph, const QString& plant, const QStringList& symbols, const QString& store,
                     const QString& output)
    : m_arguments{"minify", graph, "--progress", "json", "-o", output, "--store", store} {
  if (!plant.isEmpty()) m_arguments << "--plant" << plant;
  for (const auto& symbol : symbols) m_arguments << "--sym" << symbol;
  m_state.plant = plant;
  m_throttle.setSingleShot(true);
  m_throttle.setInterval(throttleMs);
  connect(&m_throttle, &QTimer::timeout, this, &MinifyRun::progressed);
  connect(&m_process, &CliProcess::line, this, &MinifyRun::readLine);
  connect(&m_process, &CliProcess::finished, this, &MinifyRun::finish);
}

void MinifyRun::start() {
  m_clock.start();
  m_process.start(m_arguments);
}

void MinifyRun::readLine(const QByteArray& text) {
  const auto object = QJsonDocument::fromJson(text).object();
  if (object.isEmpty()) return;
  readEvent(object);
  if (!m_throttle.isActive()) m_throttle.start();
}

void MinifyRun::readEvent(const QJsonObject& event) {
  const auto kind = event["event"].toString();
  const int nodes = event["nodes"].toInt();
  m_state.tests = event["tests"].toInt(m_state.tests);
  m_state.bestNodes = event["best"].toInt(m_state.bestNodes);
  m_state.elapsedSeconds = event["elapsed_ms"].toDouble(double(m_clock.elapsed())) / 1000;
  m_state.secondsLeft = event["eta_ms"].isDouble() ? event["eta_ms"].toDouble() / 1000 : -1;
  if (event.contains("reduction_id")) m_reduction = event["reduction_id"].toString().mid(1).toLongLong();
  if (kind == "done") {
    if (event.contains("one_minimal")) m_state.oneMinimal = event["one_minimal"].toBool();
    m_state.reproPath = event["repro"].toString();
    m_state.fingerprint = event["fingerprint"].toString(m_state.fingerprint);
    return;
  }
  const bool accepted = kind == "step" || event["accepted"].toBool();
  if (accepted) m_state.fingerprint = event["fingerprint"].toString(m_state.fingerprint);
  if (m_state.points.empty()) m_state.startNodes = event["start"].toInt(nodes);
  m_state.points.push_back({m_state.tests, nodes, accepted});
  if (accepted)
    m_state.steps.push_back({0, int(m_state.steps.size()), m_state.tests, nodes, event["outputs"].toInt(),
                             qint64(event["input_bytes"].toDouble()), event["reduction"].toString(),
                             event["fingerprint"].toString()});
}

void MinifyRun::finish(int exitCode, const QString& problem) {
  m_throttle.stop();
  m_state.secondsLeft = 0;
  m_state.error = problem;
  m_state.state = m_process.cancelled()               ? MinifyDoc::State::Cancelled
                  : problem.isEmpty() && exitCode < 2 ? MinifyDoc::State::Done
                                                      : MinifyDoc::State::Failed;
  emit finished();
}

}  // namespace kerf::ui::inline session
