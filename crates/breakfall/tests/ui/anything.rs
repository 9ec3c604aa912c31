#[breakfall::tool]
async fn t(path: impl Into<String>) -> Result<String, breakfall::Failure> {
    Ok(path.into())
}

fn main() {}
