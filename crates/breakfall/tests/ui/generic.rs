#[breakfall::tool]
async fn t<T: ToString>(path: T) -> Result<String, breakfall::Failure> {
    Ok(path.to_string())
}

fn main() {}
