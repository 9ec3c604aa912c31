#[breakfall::tool]
async fn t(path: &str) -> Result<String, breakfall::Failure> {
    Ok(path.to_owned())
}

fn main() {}
