//! Training runs that are under way, to be interrupted.

use super::{Desk, Run, program};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A program that is ended when its test is, however that ends.
pub struct Running(Option<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

impl Running {
    /// Starts a training run and waits for its first certification: it is under way then.
    pub fn start(desk: &Desk, line: &str) -> Self {
        let child = Command::new(program())
            .current_dir(desk.folder())
            .args(line.split_whitespace())
            .args(["--trace", "trace"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut running = Self(Some(child));
        while std::fs::read(desk.path("trace")).unwrap_or_default().is_empty() {
            let ended = running.0.as_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none(), "the run ended by itself: {ended:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        running
    }

    /// Sends a signal by its name.
    pub fn send(&self, signal: &str) {
        let kill = format!("kill -{signal} {}", self.0.as_ref().unwrap().id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for the end.
    pub fn end(mut self) -> Run {
        let output = self.0.take().unwrap().wait_with_output().unwrap();
        Run {
            line: String::new(),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
