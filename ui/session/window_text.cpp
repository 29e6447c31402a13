#include "ui/session/window_text.h"

#include <algorithm>

#include <QCoreApplication>

namespace kerf::ui::inline session {

namespace {

struct HintRow {
  Advice advice;
  const char* text;  ///< "%1": the subject; empty: nothing in the window does it
};

constexpr HintRow rows[] = {
    {Advice::None, ""},
    {Advice::AllowCall, ""},
    {Advice::BisectByNode, "bisect by node"},
    {Advice::ChooseBackend, "choose the backend llvm"},
    {Advice::ChooseFormat, "choose another format"},
    {Advice::ChooseStore, "open Studio with another store"},
    {Advice::CompareGraphs, "choose a second graph in Compare with…"},
    {Advice::CopyFiles, "import it again"},
    {Advice::DeleteUsers, "delete those too"},
    {Advice::GiveExpected, "Expected values… names it"},
    {Advice::GivePassOption, "set an option of a pass"},
    {Advice::GiveSizes, "the field above the graph gives values to symbols, as in s0=8"},
    {Advice::GiveTorchOption, "give an option of PyTorch"},
    {Advice::ListCaptures, "the store's list shows the captures"},
    {Advice::ListGraphs, "choose one of its graphs"},
    {Advice::ListIds, "the store's list shows what there is"},
    {Advice::ListRecords, "the list of records shows what there is"},
    {Advice::MinifyGraph, "Minify finds the node"},
    {Advice::MoveStore, "“kerf store verify” says what is lost"},
    {Advice::NamePython, "name a Python that can in the settings of Minify"},
    {Advice::RaiseMemory, "allow Studio more memory (ulimit -v)"},
    {Advice::RecordPasses, "Compile records the passes"},
    {Advice::RestoreItems, "the store's list of what was deleted brings it back"},
    {Advice::ShowRecord, "the list of records shows it"},
    {Advice::Train, "choose a training step"},
    {Advice::UpdateStore, "open that store once"},
    {Advice::VerifyStore, "“kerf store verify” lists all damage"},
};
static_assert(std::size(rows) == std::size_t(lastOf(Advice())) + 1);
static_assert(std::ranges::is_sorted(rows, {}, &HintRow::advice));

}  // namespace

QString hintText(const Hint& hint) {
  const HintRow& row = rows[std::min(std::size_t(hint.advice), std::size(rows) - 1)];
  const auto shown = QCoreApplication::translate("kerf::ui::Hints", row.text);
  return shown.contains("%1") ? shown.arg(text(hint.subject)) : shown;
}

QString windowText(const Error& error) {
  const QString hint = hintText(error.hint);
  return hint.isEmpty() ? text(error.text()) : text(error.text()) + "; " + hint;
}

}  // namespace kerf::ui::inline session
