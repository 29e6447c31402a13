// The store as a tree: captures with their graphs, runs, reductions, repros.
#pragma once

#include <memory>

#include <QStandardItemModel>

#include "ui/session/documents.h"

namespace kerf::ui::inline models {

/// Role with what a row opens ("c3", "m2"; of a run its graph, "c3/g1"); empty for headings.
constexpr int storeNameRole = Qt::UserRole + 3;

/// Role with what a row is, for deleting it ("c3", "r5", "m2", "p4"); empty for headings and graphs.
constexpr int storeItemRole = Qt::UserRole + 4;

std::unique_ptr<QStandardItemModel> makeStoreModel();
/// Puts everything of the listing into the model, newest first.
void fillStoreModel(QStandardItemModel& model, const StoreListing& store);

}  // namespace kerf::ui::inline models
