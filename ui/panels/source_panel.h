// SourcePanel: the Python code of the shown graph; its line and the selected node follow each other.
#pragma once

#include "ui/panels/code_view.h"
#include "ui/session/session.h"

namespace kerf::ui::inline panels {

class SourcePanel : public CodeView {
  Q_OBJECT

 public:
  explicit SourcePanel(Session& session, QWidget* parent = nullptr);

 private:
  void pick(int line);

  Session& m_session;
  GraphDocPtr m_shown;
};

}  // namespace kerf::ui::inline panels
