// Session: how the shown graph is run: values of symbolic sizes, what stands in for missing data, the planted fault.
#include <algorithm>
#include <utility>

#include "ui/session/graph_state.h"
#include "ui/session/job_names.h"
#include "ui/session/session.h"

namespace kerf::ui::inline session {

void Session::setSymbols(const QStringList& symbols) {
  if (!state() || state()->symbols == symbols) return;
  state()->symbols = symbols;
  findGuards();
  emit symbolsChanged();
}

QStringList Session::symbols() const { return state() ? state()->symbols : QStringList(); }

QStringList Session::sizes() const {
  QStringList sizes;
  for (const auto& symbol : m_graph ? m_graph->symbols : std::vector<SymbolDoc>()) {
    const auto name = QString::fromStdString(symbol.name) + '=';
    const auto known = symbols();
    const auto chosen = std::ranges::find_if(known, [&](const QString& each) { return each.startsWith(name); });
    sizes << (chosen == known.end() ? name + QString::fromStdString(symbol.hint) : *chosen);
  }
  return sizes;
}

void Session::chooseSizes(QStringList sizes) {
  if (!m_graph) return;
  for (const auto& symbol : m_graph->symbols) sizes.removeAll(QString::fromStdString(symbol.name + "=" + symbol.hint));
  setSymbols(sizes);
}

void Session::setPlant(const QString& plant) {
  const auto doc = capture(m_location.capture);
  if (!doc || plant == this->plant()) return;
  if (plant.isEmpty())
    m_plants.erase(doc->name);
  else
    m_plants[doc->name] = plant;
  emit plantChanged();
}

QString Session::plant() const {
  const auto doc = capture(m_location.capture);
  const auto found = doc ? m_plants.find(doc->name) : m_plants.end();
  return found == m_plants.end() ? QString() : found->second;
}

std::vector<std::string> Session::plants() const {
  return plant().isEmpty() ? std::vector<std::string>() : std::vector{plant().toStdString()};
}

void Session::setBackend(const std::string& backend) {
  if (std::exchange(m_backend, backend) != backend) emit backendChanged();
}

void Session::findBackends() {
  if (!m_backends.empty() || m_jobs.busy("backends")) return;
  if (!m_differ) m_differ = m_workers.forJob();
  m_jobs.submit<Result<std::vector<workbench::BackendDoc>>>(
      "backends",
      [worker = m_differ](std::stop_token stop) { return worker->perform(workbench::BackendsRequest(), {{}, stop}); },
      [this](const Result<std::vector<workbench::BackendDoc>>& result) {
        if (!result) return;
        m_backends = *result;
        emit backendsChanged();
      },
      JobQueue::Weight::Quiet);
}

/// What is not usual of a run: the planted faults, and another backend behind them. Empty: nothing.
std::vector<std::string> Session::runSetting() const {
  auto setting = plants();
  if (m_backend != workbench::BackendsRequest::usual) setting.push_back("backend " + m_backend);
  return setting;
}

void Session::setInputs(const InputsChoice& inputs) {
  if (!state() || state()->inputs == inputs) return;
  state()->inputs = inputs;
  emit inputsChanged();
}

InputsChoice Session::inputs() const { return state() ? state()->inputs : InputsChoice(); }

void Session::findInputRows(const std::function<void(const std::vector<workbench::InputRow>&)>& take) {
  const auto where = key();
  if (!state()) return;
  m_jobs.submit<Result<std::vector<workbench::InputRow>>>(
      jobKey("inputs", where),
      [worker = browser(where.capture), request = workbench::InputsRequest{address(where)}](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [take](const Result<std::vector<workbench::InputRow>>& rows) {
        if (rows) take(*rows);
      },
      JobQueue::Weight::Quiet);
}

}  // namespace kerf::ui::inline session
