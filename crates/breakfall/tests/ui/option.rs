#[breakfall::tool(timeout = 3)]
async fn t() -> Result<String, breakfall::Failure> {
    Ok(String::new())
}

fn main() {}
