// Session: compiling for view, and the two child processes: compare and minify.
#include "storage/stores/store.h"
#include "ui/session/graph_state.h"
#include "ui/session/session.h"
#include "ui/session/worker_jobs.h"

namespace kerf::ui::inline session {

void Session::compile() {
  const auto where = key();
  if (state()->compiled || state()->compiling) return;
  for (auto& [other, known] : m_states) known->compiling = false;  // the job below replaces theirs
  state()->compiling = true;
  m_jobs.submit<CompiledView>(
      "compile", [captured = state()->captured](std::stop_token stop) { return compileForView(*captured, stop); },
      [this, where](CompiledView view) {
        auto* known = state(where);
        if (!known) return;
        known->compiled = view.document;
        known->records = std::move(view.records);
        if (where == key()) emit compiledChanged();
      });
}

void Session::setSymbols(const QStringList& symbols) {
  if (state()) state()->symbols = symbols;
}

QStringList Session::symbols() const { return state() ? state()->symbols : QStringList(); }

QString Session::graphArgument(Key key) const {
  const auto doc = capture(key.first);
  return doc->graphs.size() < 2 ? doc->path : doc->path + "#" + doc->graphs[std::size_t(key.second)].name;
}

void Session::compare(const QString& plant) {
  auto* known = state();
  if (!known || known->compare) return;
  auto running = std::make_shared<AccuracyDoc>();
  running->running = true;
  running->plant = plant;
  known->accuracy = running;
  known->compare = std::make_unique<CompareRun>(graphArgument(key()), plant, known->symbols, m_store);
  connect(known->compare.get(), &CompareRun::finished, this,
          [this, where = key(), plant](const QByteArray& output, const QString& problem, bool cancelled) {
            compared(where, plant, output, problem, cancelled);
          });
  known->compare->start();
  emit accuracyChanged();
  emit busyChanged();
}

void Session::cancelCompare() {
  if (state() && state()->compare) state()->compare->cancel();
}

void Session::compared(Key where, const QString& plant, const QByteArray& output, const QString& problem,
                       bool cancelled) {
  const auto read = [plant, output, problem, cancelled](std::stop_token) -> AccuracyDocPtr {
    if (cancelled) return nullptr;
    auto doc = std::make_shared<AccuracyDoc>(readAccuracy(output));
    doc->plant = plant;
    if (!problem.isEmpty()) doc->error = problem;
    return doc;
  };
  m_jobs.submit<AccuracyDocPtr>(QString("compare:%1/%2").arg(where.first).arg(where.second), read,
                                [this, where](AccuracyDocPtr doc) {
                                  auto* known = state(where);
                                  if (!known) return;
                                  if (known->compare) known->compare.release()->deleteLater();
                                  known->accuracy = doc;
                                  if (where == key()) emit accuracyChanged();
                                  if (where == key() && doc && node() < 0) selectNode(doc->firstBad());
                                  if (doc && !doc->error.isEmpty()) emit failed(tr("Comparison failed"), doc->error);
                                });
}

void Session::minify(const QString& plant) {
  auto* known = state();
  if (!known || (known->minify && known->minify->running())) return;
  std::erase_if(known->graphs, [](const auto& item) { return item.first.first == int(Location::Stage::Step); });
  if (m_store.isEmpty()) m_store = QString::fromStdString(Store::defaultPath().string());
  known->minify = std::make_unique<MinifyRun>(graphArgument(key()), plant, known->symbols, m_store,
                                              m_scratch.filePath(QString("minify%1").arg(++m_runs)));
  connect(known->minify.get(), &MinifyRun::progressed, this, [this, where = key()] { minifyProgressed(where); });
  connect(known->minify.get(), &MinifyRun::finished, this, [this, where = key()] { minifyFinished(where); });
  known->minify->start();
  minifyProgressed(key());
  emit busyChanged();
}

void Session::cancelMinify() {
  if (state() && state()->minify) state()->minify->cancel();
}

void Session::minifyProgressed(Key where) {
  auto* known = state(where);
  if (!known || !known->minify) return;
  known->minified = known->minify->snapshot();
  if (where == key()) emit minifyChanged();
}

void Session::minifyFinished(Key where) {
  minifyProgressed(where);
  auto* known = state(where);
  if (!known) return;
  const auto seen = known->minified;
  if (!seen->error.isEmpty()) emit failed(tr("Minify failed"), seen->error);
  m_jobs.submit<std::vector<StepDoc>>(
      QString("steps:%1/%2").arg(where.first).arg(where.second),
      [store = m_store, reduction = known->minify->reduction()](std::stop_token) {
        return readSteps(store, reduction);
      },
      [this, where, seen](std::vector<StepDoc> steps) {
        auto* target = state(where);
        if (!target || steps.empty()) return;
        auto doc = std::make_shared<MinifyDoc>(*seen);
        doc->steps = std::move(steps);
        target->minified = doc;
        if (where == key()) emit minifyChanged();
      });
}

}  // namespace kerf::ui::inline session
