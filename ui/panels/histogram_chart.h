// HistogramChart: how many elements of a tensor lie where between its smallest and its largest.
#pragma once

#include <QWidget>

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

class HistogramChart : public QWidget {
  Q_OBJECT

 public:
  explicit HistogramChart(QWidget* parent = nullptr);
  void setFigures(const workbench::ValueFigures& figures);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  workbench::ValueFigures m_figures;
};

}  // namespace kerf::ui::inline panels
