"""The page of `kerf share` in a browser: it shows what is in it, loads and runs nothing else, and gives its data back."""
import os
import subprocess
import tempfile
import unittest

from . import browser, package

KERF = os.environ.get("KERF_PROGRAM", os.path.join(package.ROOT, "build", "bin", "kerf"))
SAMPLE = os.path.join(package.ROOT, "resources", "samples", "mlp8")
ATTACK = "</pre></script><script>window.bad=1</script><img src=http://127.0.0.1:9/x onerror='window.bad=2'>"


@unittest.skipUnless(browser.PROGRAM, "no Chromium")
@unittest.skipUnless(os.access(KERF, os.X_OK), "no kerf")
class SharePageTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        self.page = os.path.join(self.folder.name, "page.html")

    def shared(self, what):
        env = dict(os.environ, KERF_STORE=os.path.join(self.folder.name, "kerf.db"))
        subprocess.run([KERF, "share", what, "-o", self.page], env=env, check=True, capture_output=True, timeout=120)
        self.browser = browser.Browser(self.folder.name)
        self.addCleanup(self.browser.close)
        self.browser.open("file://" + self.page)
        return self.browser

    def test_clicking_through(self):
        page = self.shared(os.path.join(SAMPLE, "minifier_launcher.py"))
        self.assertIn("1 graphs", page.value("document.body.innerText"))
        self.assertFalse(page.value("document.querySelector('details').open"))
        page.click("summary")
        self.assertTrue(page.value("document.querySelector('details').open"))
        self.assertIn("torch.ops.aten", page.value("document.querySelector('details pre').innerText"))
        page.click("#open")
        self.assertTrue(page.value("[...document.querySelectorAll('details')].every(d=>d.open)"))
        page.click("#find")
        page.call("Input.insertText", text="no such thing anywhere")
        self.assertEqual(page.value("[...document.querySelectorAll('.item')].filter(i=>!i.hidden).length"), 0)
        page.click("#save")
        self.assertRegex(page.value("document.getElementById('saved').textContent"), r"^\d+ bytes$")
        self.assertEqual(page.requests(), [])
        self.assertEqual(page.complaints(), [])

    def test_hostile_files_stay_text(self):
        place = os.path.join(self.folder.name, "report")
        os.mkdir(place)
        with open(os.path.join(place, "issue.md"), "w") as file:
            file.write(ATTACK)
        page = self.shared(place)
        page.click("#open")
        self.assertIsNone(page.value("window.bad"))
        self.assertIn(ATTACK, page.value("document.querySelector('pre').textContent"))
        self.assertEqual(page.requests(), [])
        page.value("document.body.insertAdjacentHTML('beforeend', '<img src=\"http://127.0.0.1:9/y\">')")
        page.value("document.body.appendChild(Object.assign(document.createElement('script'), {textContent: 'window.bad=3'})), 1")
        self.assertIsNone(page.value("window.bad"))  # the policy refuses what is not the page's own


if __name__ == "__main__":
    unittest.main()
