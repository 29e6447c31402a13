// What is said of two runs: the first thing that differs, a stage in a few letters, a compilation in full.
#pragma once

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

/// "pre-grad" of "before_pre_grad_graph": the short title of a stage.
QString stageTitle(const QString& graph);

struct RunsStageCell {
  QString text, tip;
  bool same = false;
};
/// "=", "+3 −1 ~2", "only later".
RunsStageCell stageCell(const workbench::StageDifference& stage);

/// "3 of 5 compile ids differ. First: 0/0, joint: relu = … → relu = …".
QString runsHeadline(const RunsDoc& runs);

/// Stages, op counts, guards, kernels and times of one compilation.
QString compileHtml(const workbench::CompileDifference& compile, const std::optional<DiffRow>& first);

}  // namespace kerf::ui::inline panels
