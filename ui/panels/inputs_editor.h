// InputsEditor: what a graph is run on where its capture has no data: how that is made up, its seed, or a file; and the
// values of symbolic sizes.
#pragma once

#include <QWidget>

#include "ui/session/documents.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;

namespace kerf::ui::inline panels {

class InputsEditor : public QWidget {
  Q_OBJECT

 public:
  /// `symbols`: those of the graph, "s0=8"; empty: its sizes are numbers.
  explicit InputsEditor(const QStringList& symbols, QWidget* parent = nullptr);
  void setAddress(const workbench::GraphAddress& address);
  /// Sets inputs, seed and symbols of an address.
  void fill(workbench::GraphAddress& address) const;
  /// What is known of where the inputs come from: "8 of 10 inputs are stored, 2 are made up".
  void setNote(const QString& note);
  QString note() const;
  /// Why this cannot be run on; empty: it can.
  QString problem() const;

 signals:
  void changed();

 private:
  QWidget* fileRow();
  bool isFile() const;
  QStringList sizes() const;

  QFormLayout* m_form;
  QComboBox* m_fill;
  QLineEdit *m_file, *m_seed, *m_symbols;
  QLabel* m_note;
};

/// "4 of 6 inputs have data of their own; made up: x, y".
QString inputsText(const std::vector<workbench::InputRow>& rows);

}  // namespace kerf::ui::inline panels
