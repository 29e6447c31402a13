#include "app/cli/hints.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/terminal.h"
#include "app/workbench/protocol/programs.h"

namespace kerf::cli {

using workbench::mayBeProgram;

namespace {

struct HintRow {
  Advice advice;
  std::string_view text;     ///< "{}": the subject
  std::string_view without;  ///< what it says without a subject; empty: `text`
};

constexpr HintRow rows[] = {
    {Advice::None, "", ""},
    {Advice::AllowCall, "--allow-call {} allows it", ""},
    {Advice::BisectByNode, "try --by node", ""},
    {Advice::ChooseBackend, "add --backend llvm", ""},
    {Advice::ChooseFormat, "--format {} works without it", "name the format with --format"},
    {Advice::ChooseStore, "choose another file with --store", ""},
    {Advice::CompareGraphs, "--against GRAPH compares one graph with another", ""},
    {Advice::CopyFiles, "`kerf import` without --link copies the files into the store", ""},
    {Advice::DeleteUsers, "--cascade deletes them too", ""},
    {Advice::GiveExpected, "--expect FILE.safetensors gives expected values", ""},
    {Advice::GivePassOption, "--config PASS.OPTION=VALUE sets one", ""},
    {Advice::GiveSizes, "--sym NAME=VALUE gives a symbol its size, as in --sym s0=8", ""},
    {Advice::GiveTorchOption, "--option NAME=VALUE sets one", ""},
    {Advice::ListCaptures, "`kerf ls captures` lists the captures", ""},
    {Advice::ListGraphs, "`kerf ls graphs {}` lists them", ""},
    {Advice::ListIds, "`kerf ls` lists the ids", ""},
    {Advice::ListRecords, "`kerf ls records CAPTURE` lists the records", ""},
    {Advice::MinifyGraph, "`kerf minify GRAPH --oracle torch` finds the node", ""},
    {Advice::MoveStore, "`kerf store verify` lists what is lost; `kerf store export` copies what is undamaged", ""},
    {Advice::NamePython, "name a Python that has PyTorch with --python", ""},
    {Advice::RaiseMemory, "raise the limit of `ulimit -v` or --memory-limit", ""},
    {Advice::RecordPasses, "`kerf passes {}` records the passes", ""},
    {Advice::RestoreItems, "`kerf store restore {}` brings back what was deleted", ""},
    {Advice::ShowRecord, "`kerf show {}` prints it", ""},
    {Advice::Train, "add --train", ""},
    {Advice::UpdateStore, "`kerf ls --store {}` brings it to this schema", ""},
    {Advice::VerifyStore, "`kerf store verify` lists all damage", ""},
};
static_assert(std::size(rows) == std::size_t(lastOf(Advice())) + 1);
static_assert(std::ranges::is_sorted(rows, {}, &HintRow::advice));

}  // namespace

std::string hintText(const Hint& hint) {
  const HintRow& row = rows[std::min(std::size_t(hint.advice), std::size(rows) - 1)];
  const std::string_view text = hint.subject.empty() && !row.without.empty() ? row.without : row.text;
  return fmt::format(fmt::runtime(text), hint.subject);
}

void complainOf(const Error& error) {
  complain(Tone::Error, error.text());
  if (mayBeProgram(error) && !error.file.empty() && error.message.find("`kerf capture") == std::string::npos)
    complain(Tone::Hint, fmt::format("run `kerf capture {}`: {}", error.file, whatCapturingDoes));
  if (const std::string hint = hintText(error.hint); !hint.empty()) complain(Tone::Hint, hint);
}

}  // namespace kerf::cli
