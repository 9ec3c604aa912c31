//! A model that says what a script says: for tests and demonstrations.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use breakfall::{BoxFuture, Call};

use crate::error::{ModelError, ModelErrorKind};
use crate::message::{Message, SavedCall};
use crate::model::{Answer, Delta, Finish, Model, Question};

/// A model by script: one step for each time that it is asked, then it says that it is done.
///
/// ```
/// use breakfall::Guard;
/// use breakfall_chat::{Conversation, Scripted, Stop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), breakfall::Error> {
/// let model = Scripted::new().calls([("raed_file", "{}")]).says("There is no such tool.");
/// let mut conversation = Conversation::new(model, Guard::builder().build()?);
/// let stop = conversation.say("Read it.", &mut |_| (), std::future::pending()).await;
/// assert_eq!(stop, Stop::Done);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Scripted {
    steps: Mutex<VecDeque<Step>>,
    asked: Mutex<Vec<Vec<Message>>>,
    pace: Duration,
}

#[derive(Debug)]
enum Step {
    Answer(Answer),
    Fail { said: String, error: ModelError },
    Hang { said: String },
}

impl Scripted {
    /// A model with nothing to say yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits so long between two words.
    pub fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    fn step(self, step: Step) -> Self {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).push_back(step);
        self
    }

    /// Then it says this.
    pub fn says(self, text: impl Into<String>) -> Self {
        self.answers(Answer { text: text.into(), ..Answer::default() })
    }

    /// Then it calls these tools, with these arguments.
    pub fn calls<'c>(self, calls: impl IntoIterator<Item = (&'c str, &'c str)>) -> Self {
        self.says_and_calls("", calls)
    }

    /// Then it says this and calls these tools, with these arguments.
    pub fn says_and_calls<'c>(
        self,
        text: impl Into<String>,
        calls: impl IntoIterator<Item = (&'c str, &'c str)>,
    ) -> Self {
        let calls = calls.into_iter().map(|(tool, arguments)| Call::new("", tool, arguments));
        self.answers(Answer { text: text.into(), calls: calls.collect(), ..Answer::default() })
    }

    /// Then it says this, and is stopped because that was long enough.
    pub fn is_cut_off_after(self, text: impl Into<String>) -> Self {
        self.answers(Answer { text: text.into(), finish: Finish::Length, ..Answer::default() })
    }

    /// Then it answers this.
    pub fn answers(self, answer: Answer) -> Self {
        self.step(Step::Answer(answer))
    }

    /// Then it does not answer.
    pub fn fails(self, error: ModelError) -> Self {
        self.step(Step::Fail { said: String::new(), error })
    }

    /// Then the connection is lost when it has said this.
    pub fn is_lost_after(self, said: impl Into<String>) -> Self {
        let error = ModelError::new(ModelErrorKind::Lost, "the script says so");
        self.step(Step::Fail { said: said.into(), error })
    }

    /// Then it never ends after it has said this.
    pub fn hangs_after(self, said: impl Into<String>) -> Self {
        self.step(Step::Hang { said: said.into() })
    }

    /// What it was asked, each time.
    pub fn asked(&self) -> Vec<Vec<Message>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn tell(&self, text: &str, hear: &mut (dyn FnMut(Delta) + Send)) {
        for word in text.split_inclusive(' ') {
            hear(Delta::Text(word.to_owned()));
            if !self.pace.is_zero() {
                tokio::time::sleep(self.pace).await;
            }
        }
    }
}

impl Model for Scripted {
    fn answer<'a>(
        &'a self,
        question: Question<'a>,
        hear: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question.history.to_vec());
        let step = self.steps.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        Box::pin(async move {
            match step {
                None => {
                    self.tell("Done.", hear).await;
                    Ok(Answer { text: "Done.".to_owned(), ..Answer::default() })
                }
                Some(Step::Answer(answer)) => {
                    self.tell(&answer.text, hear).await;
                    for (index, call) in answer.calls.iter().enumerate() {
                        let SavedCall { tool, arguments, .. } = call.into();
                        hear(Delta::Call { index, tool, arguments });
                    }
                    Ok(answer)
                }
                Some(Step::Fail { said, error }) => {
                    self.tell(&said, hear).await;
                    Err(error)
                }
                Some(Step::Hang { said }) => {
                    self.tell(&said, hear).await;
                    std::future::pending().await
                }
            }
        })
    }
}
